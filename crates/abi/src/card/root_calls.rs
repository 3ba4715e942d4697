//! The table of calls of the root role (`docs/root.md`). Their numbers are behind those of other kernel calls.
use super::call_table::calls;

calls! {
    /// A call of the root role, by its number.
    RootCall;
    TileFind = 80, "tile_find", Kernel;
        "name": "the address of a name, or 0", "size": "its bytes, up to 32; 0: a tile of memory",
        "from": "the first tile that is looked at";
        "the tile; the endpoints of its unit";
        NotFound: "there is no such tile behind", Invalid: "the size", BadAddress: "the caller cannot load the name",
        NoCall: "the kernel is no root";
        "Finds a tile: one whose accelerator computes what has this name, one with harts that has it, with or without \
         the number at its end, or one of memory."
    TileMemory = 81, "tile_memory", Kernel;
        "tile": "a tile of memory", "size": "bytes, up to 1 GiB";
        "a capability";
        NotFound: "there is no such tile", Invalid: "the size", NoMemory: "its memory is used up, or there is \
        no place for a capability", NoCall: "the kernel is no root";
        "Takes memory of a tile, which is 0. It is free again when the capability is revoked."
    CapabilityNarrow = 82, "capability_narrow", Kernel;
        "capability": "of memory", "offset": "in it", "size": "bytes", "rights": "1 to read, 2 to write, 3";
        "a capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of memory, or the range is not in it",
        NotPermitted: "it has not these rights", NoMemory: "there is no place for a capability",
        NoCall: "the kernel is no root";
        "Makes a capability for a part of the memory, or with fewer rights."
    CapabilityGive = 83, "capability_give", Kernel;
        "capability": "of the caller's process", "process": "its parent, or a child";
        "the number of the other's capability";
        NotFound: "there is no such capability, or no such process", Invalid: "it cannot be given away",
        NoMemory: "there is no place for a capability", NoCall: "the kernel is no root";
        "Makes a capability of the same right for another process."
    CapabilityRevoke = 84, "capability_revoke", Kernel;
        "capability": "of the caller's process"; "0";
        NotFound: "the caller's process has no such capability", NoCall: "the kernel is no root";
        "Takes a capability away, with all that were derived from it, in all processes. Endpoints \
         that were set up by them are of no use any more. A process's capabilities go with it."
    TileLoad = 85, "tile_load", Unit;
        "memory": "a capability", "offset": "in it", "buffer": "an address", "size": "bytes, up to 64 KiB";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of memory, or the range is not in it",
        NotPermitted: "it is not for reading", BadAddress: "the caller cannot store there",
        Failed: "the tile does not answer", NoCall: "the kernel is no root, or its tile's caches are not coherent";
        "Copies from memory of a tile to the caller's."
    TileStore = 86, "tile_store", Unit;
        "memory": "a capability", "offset": "in it", "data": "an address", "size": "bytes, up to 64 KiB";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of memory, or the range is not in it",
        NotPermitted: "it is not for writing", BadAddress: "the caller cannot load from there",
        Failed: "the tile does not answer", NoCall: "the kernel is no root, or its tile's caches are not coherent";
        "Copies from the caller's memory to that of a tile."
    GateCreate = 87, "gate_create", Kernel;
        ; "a capability"; NoMemory: "endpoints, memory, or places for capabilities are used up",
        NoCall: "the kernel is no root";
        "Makes a gate, by which the caller's process receives messages of up to 120 bytes. It has 16 slots."
    GateSender = 88, "gate_sender", Kernel;
        "gate": "a capability", "label": "what its messages carry", "credits": "from 1 to 16";
        "a capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of a gate, or the credits",
        NoMemory: "there is no place for a capability", NoCall: "the kernel is no root";
        "Makes a capability to send messages to the gate, of which so many may be unanswered."
    GateReceive = 89, "gate_receive", Unit;
        "gate": "of the caller's process", "buffer": "the address of 120 bytes, a multiple of 8",
        "until": "a value of `time`";
        "the slot of the message (7:0), and its bytes above; the sender's label. An answer has slot 255, and its label";
        NotFound: "the caller's process has no such gate, or it was revoked", Invalid: "it is not of a gate",
        BadAddress: "the caller cannot store a message there", TimedOut: "no message came in time",
        NoCall: "the kernel is no root";
        "Takes the oldest message of a gate, or waits for one. Its slot is in use until it is answered. An answer \
         to `gate_send` has no slot any more."
    GateAnswer = 90, "gate_answer", Unit;
        "gate": "of the caller's process", "slot": "of the message", "message": "the address of the answer, a multiple of 8",
        "size": "its bytes, a multiple of 8 up to 120";
        "0";
        NotFound: "the caller's process has no such gate", Invalid: "it is not of a gate, or the slot or size",
        BadAddress: "the caller cannot load the message", Dead: "the sender is gone",
        NoCall: "the kernel is no root";
        "Answers a message, and frees its slot."
    GateCall = 91, "gate_call", Kernel;
        "sender": "a capability of `gate_sender`", "message": "the address of a message, a multiple of 8",
        "size": "its bytes, a multiple of 8 up to 120", "answer": "the address of 120 bytes, a multiple of 8",
        "until": "a value of `time`";
        "the bytes of the answer";
        NotFound: "the caller's process has no such capability", Invalid: "it is none to send, or the size",
        BadAddress: "the caller cannot load the message, or store the answer", Again: "8 calls of the process wait, or 64 of all, or the accelerator has no room",
        Dead: "the gate is gone", TimedOut: "no answer came in time", NoCall: "the kernel is no root";
        "Sends a message and waits for its answer."
    ActivityCreate = 92, "activity_create", Kernel;
        "tile": "of an accelerator, or with harts"; "a capability";
        NotFound: "there is no such tile",
        NoMemory: "memory or places for activities are used up; or the process has 8 programs, or 4 of the tile",
        Dead: "the tile does not answer", NoCall: "the kernel is no root";
        "Makes an activity of an accelerator, or a program of a tile with harts. It ends when the capability is \
         revoked. Activities of a tile take turns."
    ActivityEndpoint = 93, "activity_endpoint", Kernel;
        "activity": "a capability", "endpoint": "the accelerator's", "capability": "to send, or of memory";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "they are not of these kinds, or the endpoint",
        NoMemory: "there is no place for a capability", Failed: "the tile does not answer", NoCall: "the kernel is no root";
        "Sets an endpoint of an activity up. It is of no use any more when the capability is revoked."
    ActivityGate = 94, "activity_gate", Kernel;
        "activity": "a capability"; "a capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of an activity",
        NoMemory: "there is no place for a capability", NoCall: "the kernel is no root";
        "Makes a capability for the gate of an accelerator, from which `gate_sender` derives those to send."
    ActivityMemory = 95, "activity_memory", Kernel;
        "activity": "a capability"; "a capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of an activity",
        NoMemory: "there is no place for a capability", NoCall: "the kernel is no root";
        "Makes a capability for the local memory of an accelerator."
    ActivityStart = 96, "activity_start", Kernel;
        "activity": "a capability", "input": "0: it asks for its input; 1: others write it. Of a program, a capability \
        of memory with its image";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of an activity, or the input, or \
        the image is of no program",
        Busy: "it has started", Again: "endpoints of the tile are free soon", NoMemory: "the tile's memory, processes \
        or endpoints are used up", Failed: "the tile does not answer, or does not reach the image",
        Dead: "the tile has stopped", NoCall: "the kernel is no root";
        "Starts an accelerator, or a program. A program is loaded then, so that its image may go."
    ActivityWait = 97, "activity_wait", Kernel;
        "activity": "a capability", "until": "a value of `time`";
        "3: it has ended, 4: with an error; the error, or the status of a program that has ended";
        NotFound: "the caller's process has no such capability, or it was revoked", Invalid: "it is not of an activity",
        TimedOut: "it has not ended in time", NoCall: "the kernel is no root";
        "Waits for the end of an activity or a program."
    ServiceCreate = 98, "service_create", Kernel;
        "gate": "of the caller's process", "name": "the address of a name", "size": "its bytes, up to 32",
        "label": "of the kernel's messages";
        "a capability";
        NotFound: "the caller's process has no such gate", Invalid: "it is not of a gate, or the name",
        Exists: "there is a service of this name", BadAddress: "the caller cannot load the name",
        NoMemory: "the process has 4 services, or there is no place for one", NoCall: "the kernel is no root";
        "Gives a gate a name, by which others open sessions. The kernel's messages come to the gate: one \
         to open a session, with 1, the session, and the client's argument, whose answer is 0 or an error, \
         and the label of the client's messages. And one when a session is over, with 2, its number and \
         its label, which takes no answer and has the slot 0xff."
    SessionOpen = 99, "session_open", Kernel;
        "name": "the address of a name", "size": "its bytes, up to 32", "argument": "what the server gets",
        "until": "a value of `time`";
        "a capability";
        NotFound: "there is no service of this name, or the server says so", Invalid: "the name", BadAddress: "the caller cannot load the name",
        Again: "as of `gate_call`", NoMemory: "the caller has 8 sessions, or there is no place for one",
        Dead: "the server is gone", TimedOut: "it has not answered in time", NoCall: "the kernel is no root";
        "Opens a session, by which `gate_call` sends messages to the server. The server may refuse with any error."
    SessionGive = 100, "session_give", Kernel;
        "session": "a capability of the server", "capability": "of the caller's process";
        "the number of the client's capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of a session, or cannot be given away",
        NoAccess: "the client waits for no answer, or has got 4 capabilities", NoMemory: "there is no place for a capability",
        NoCall: "the kernel is no root";
        "Makes a capability of the same right for the client of a session, which waits for an answer by \
         `gate_call`. So a client gets no capabilities that it has not asked for."
    ViewCreate = 101, "view_create", Kernel;
        "memory": "a capability"; "a capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of memory",
        NoMemory: "the process has 64 views, or there is no place for one", NoCall: "the kernel is no root";
        "Makes a view of memory. It is memory to those that it is given to, and an endpoint of an activity can \
         be set up by it. It shows nothing at first."
    ViewSet = 102, "view_set", Kernel;
        "view": "that the caller's process has made", "offset": "in its memory", "size": "bytes", "rights": "1 to read, 2 to write, 3";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of a view, or the range is not in its memory",
        NotPermitted: "another one has made it, or the memory has not these rights", Failed: "the tile of its endpoint does not answer",
        NoCall: "the kernel is no root";
        "Says what a view shows from now on, to all who have it."
    GateSend = 103, "gate_send", Unit;
        "sender": "a capability of `gate_sender`", "message": "the address of a message, a multiple of 8",
        "size": "its bytes, a multiple of 8 up to 160", "gate": "of the caller's process", "label": "of the answer";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "they are not of these kinds, or the size",
        BadAddress: "the caller cannot load the message", Again: "as many messages as the sender has credits have no \
        answer, or the receiver has no room", Busy: "answers to this sender come to another gate", Dead: "the receiver is gone",
        NoMemory: "endpoints are used up", NoCall: "the kernel is no root";
        "Sends a message, and does not wait for the answer, which comes to the gate with the label."
    GateAnswerReceive = 104, "gate_answer_receive", Unit;
        "gate": "of the caller's process", "slot": "of the message that is answered; 255: of none", "message": "as of `gate_answer`",
        "size": "the same", "buffer": "as of `gate_receive`", "until": "a value of `time`";
        "the slot of the message (7:0), and its bytes above; the sender's label";
        NotFound: "as of `gate_receive`", Invalid: "as of `gate_answer`", BadAddress: "the caller cannot load the message, \
        or store one", Again: "there is no room for the answer: nothing has happened", TimedOut: "the answer has gone, and no message came in time",
        NoCall: "the kernel is no root";
        "Answers a message, and takes the next one of the same gate, or waits for one. An answer whose sender is gone is \
        dropped. If `gate_call` has brought the message, and no thread waits for a hart, its caller goes on on this hart \
        without the kernel hart."
    ActivityState = 110, "activity_state", Kernel;
        "activity": "a capability";
        "0: it has not begun, 1: it is ready, 2: it has its turn, 3: it waits for a message, 4: it is over; \
        its blocks, or the tile of a program";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of an activity",
        Failed: "the tile does not answer", NoCall: "the kernel is no root";
        "Says what an activity does, and how many blocks its logic has computed."
    AcceleratorTurns = 111, "accelerator_turns", Kernel;
        ; "turns; messages and data that were forwarded";
        NoCall: "the kernel is no root";
        "Says how often accelerators got another activity, and what the kernel took for activities without a turn."
    TileBlock = 112, "tile_block", Kernel;
        "tile": "of an accelerator of streams";
        "bytes of a block; where the local memory behind the blocks begins";
        NotFound: "there is no such tile", NoCall: "the kernel is no root";
        "Says how an accelerator divides its local memory."
    ActivityMove = 113, "activity_move", Kernel;
        "activity": "a capability", "may": "1: it may move, 0: it keeps its tile";
        "the tile that it has now";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of an activity, or `may`",
        Busy: "it is of a group, or a program that is over",
        NoCall: "the kernel is no root";
        "Lets an activity have its turn on any tile of the same kind. It keeps its tile at first. A program begins on \
         the tile of the same kind that has the fewest, and moves to one that has none."
    GroupCreate = 114, "group_create", Kernel;
        ; "a capability";
        NoMemory: "the process has 8 groups, or there is no place for one", NoCall: "the kernel is no root";
        "Makes a group of activities, which have their turns at the same time or none of them."
    GroupJoin = 115, "group_join", Kernel;
        "group": "a capability", "activity": "a capability, which has not begun";
        "0";
        NotFound: "the caller's process has no such capability", Invalid: "they are not of these kinds",
        Busy: "the activity has begun or is of a group, or a member has begun", Exists: "a member is of the same tile",
        NoMemory: "the group has 8 members", NoCall: "the kernel is no root";
        "Adds an activity to a group. It keeps its tile. All members have to be started before the group has its first turn."
    ActivityGive = 116, "activity_give", Kernel;
        "activity": "a capability of a program", "capability": "of the caller's process";
        "the number of the program's capability";
        NotFound: "the caller's process has no such capability", Invalid: "it is not of a program, or cannot be given \
        away", Busy: "the program has got 16, or is over", NoMemory: "there is no place for a capability",
        NoCall: "the kernel is no root";
        "Makes a capability of the same right for a program of another tile."
    HostMemory = 119, "host_memory", Kernel;
        "address": "of the host's process", "size": "bytes", "rights": "1 to read, 2 to write, 3";
        "a capability";
        Invalid: "the range or the rights", NoMemory: "there is no place for a capability",
        NoCall: "the caller is no host program, or the kernel is no root";
        "Gives memory of a host program as that of a tile: an activity has it as an endpoint. An access that the \
        program could not make itself is an error of the activity's."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_calls() {
        for page in PAGES {
            assert_eq!(
                RootCall::from_number(page.number).map(|call| call as u64),
                Some(page.number)
            );
        }
        assert_eq!(RootCall::from_number(79), None);
    }
}

//! The table of kernel calls.
//!
//! A program has the call's number in a7, arguments in a0 to a5, and executes `ecall`. Behind it a0
//! has the result or an [`Error`](super::Error), negative, and a1 the second result. Other
//! registers are as before.
use super::call_table::calls;

calls! {
    /// A kernel call, by its number.
    Call;
    ThreadSelf = 0, "thread_self", Caller;
        ; "the caller's thread"; ;
        "Tells the number of the thread that calls."
    HartSelf = 1, "hart_self", Caller;
        ; "the number of the hart in its tile"; ;
        "Tells on which hart the thread runs. It may be another one right after the call."
    CacheRefresh = 2, "cache_refresh", Caller;
        ; "0";
        NoCall: "caches are not coherent, and harts cannot drop them (XTheadCmo)";
        "Makes the hart forget data that its cache holds, after changed lines were written. Loads that \
         follow see what other harts have stored. A machine with coherent caches does nothing."
    ThreadCreate = 16, "thread_create", Kernel;
        "entry": "the address where the thread begins", "argument": "what it has in a0",
        "stack": "the end of its stack, a multiple of 16", "tls": "what it has in tp",
        "priority": "from 0, the most urgent, to 7";
        "the thread's number";
        NoMemory: "there is no place for a thread more", Invalid: "the priority, or the stack's alignment";
        "Makes a thread in the caller's process. It may run on any hart of the tile at once."
    ThreadExit = 17, "thread_exit", Either;
        "value": "what a join gets"; "it does not return"; ;
        "Ends the calling thread. A process ends with its last thread, and its status is the value of its \
         first thread."
    ThreadJoin = 18, "thread_join", Either;
        "thread": "of the caller's process", "until": "the time at which the wait ends";
        "0; the thread's value";
        NotFound: "there is no such thread, or another call has joined it",
        Deadlock: "it is the caller, or waits for the caller by joins",
        Invalid: "it is detached", Busy: "another thread waits for it",
        TimedOut: "it has not ended in time";
        "Waits until a thread has ended. Its number can be of another thread afterwards."
    ThreadDetach = 19, "thread_detach", Kernel;
        "thread": "of the caller's process"; "0";
        NotFound: "there is no such thread", Invalid: "it is detached",
        Busy: "another thread waits for it";
        "No thread will join this thread. When it ends, its number is free."
    ThreadYield = 20, "thread_yield", Kernel;
        ; "0"; ;
        "Lets another thread that is ready, and not less urgent, run on the hart."
    ThreadSleep = 21, "thread_sleep", Kernel;
        "until": "a value of `time`"; "0"; TimedOut: "the time has come without a wake-up";
        "Waits until `thread_wakeup` or a time. A wake-up that comes before is not lost: the next sleep \
         returns at once."
    ThreadWakeup = 22, "thread_wakeup", Kernel;
        "thread": "of the caller's process"; "0"; NotFound: "there is no such thread";
        "Wakes a thread from `thread_sleep`, now or when it comes to it."
    ThreadWaitOn = 23, "thread_wait_on", Kernel;
        "address": "of an aligned word of 32 bits", "value": "that it has", "until": "a value of `time`";
        "0";
        Again: "the word has another value", TimedOut: "no wake-up has come in time",
        BadAddress: "the caller cannot load the word", Invalid: "it is not aligned";
        "Waits for `thread_wake_on` at an address, if the word has still this value. Comparison and wait \
         are one step."
    ThreadWakeOn = 24, "thread_wake_on", Kernel;
        "address": "of the word", "most": "how many threads are woken";
        "how many were woken"; Invalid: "it is not aligned";
        "Wakes threads of the caller's process that wait on an address, in the order in which they came."
    ThreadPlace = 25, "thread_place", Kernel;
        "thread": "of the caller's process", "harts": "a bit for each hart that it may run on";
        "the harts that it could run on before";
        NotFound: "there is no such thread", Invalid: "none of the harts runs programs";
        "Says on which harts a thread may run. A thread that runs elsewhere moves at once."
    ThreadPriority = 26, "thread_priority", Kernel;
        "thread": "of the caller's process", "priority": "from 0, the most urgent, to 7";
        "the priority before"; NotFound: "there is no such thread", Invalid: "the priority";
        "Changes how urgent a thread is."
    ThreadState = 27, "thread_state", Kernel;
        "thread": "of the caller's process", "state": "the address of a `ThreadState`",
        "direction": "0: it is copied to the caller, 1: it is set";
        "0";
        NotFound: "there is no such thread", Busy: "the thread runs, and can do so",
        BadAddress: "the caller cannot access the record", Invalid: "the direction";
        "Copies or sets all registers of a thread that waits for an exception handler or sleeps."
    ExceptionWait = 28, "exception_wait", Kernel;
        "record": "the address of an `ExceptionRecord`", "until": "a value of `time`";
        "0";
        BadAddress: "the caller cannot store the record", TimedOut: "there was none in time";
        "Waits until a thread of the process has an exception that the kernel does not resolve. Several \
         threads may wait. A thread that has called it once is a handler. Exceptions of a process \
         without handlers, and of handlers, end the process."
    ExceptionResume = 29, "exception_resume", Kernel;
        "thread": "that has the exception", "pc": "where it goes on; 0: at the instruction again";
        "0"; NotFound: "no thread of this number has an exception";
        "Lets a thread go on after its exception was handled."
    Hint = 30, "hint", Kernel;
        "extensions": "what the next instructions need: 0 nothing special, 1 vectors, 2 floating point, 4 a vendor's; or a sum";
        "0";
        NotFound: "the thread may run on no hart that has all of them", Invalid: "other bits";
        "Says what the caller executes next. It moves now to a hart that has the extensions, and not when an \
         instruction is illegal. With 0 it leaves a hart that others need. Threads move without hints, too."
    MemoryMap = 32, "memory_map", Kernel;
        "address": "a multiple of 4096, or 0: the kernel chooses", "size": "in bytes, rounded up to pages; 16 MiB at most",
        "rights": "1 loads, 2 stores, 4 fetches";
        "the address";
        Invalid: "the size, an address that is no multiple, rights that pages cannot have",
        AddressInUse: "a page there is mapped", NoMemory: "tables are used up, or the process's limit";
        "Maps pages that read as zero. Memory is taken at the first access of each page."
    MemoryUnmap = 33, "memory_unmap", Kernel;
        "address": "a multiple of 4096", "size": "in bytes, rounded up to pages; 16 MiB at most"; "0";
        Invalid: "the size, or an address that is no multiple", NotFound: "no page there is mapped";
        "The pages are not mapped any more. When the call returns, no hart of the tile reaches them."
    MemoryProtect = 34, "memory_protect", Kernel;
        "address": "a multiple of 4096", "size": "in bytes, rounded up to pages; 16 MiB at most",
        "rights": "1 loads, 2 stores, 4 fetches"; "0";
        Invalid: "as of `memory_map`", NotFound: "a page there is not mapped";
        "Changes rights of pages. When the call returns, all harts of the tile have the new ones."
    MemoryFree = 35, "memory_free", Kernel;
        ; "free pages of memory; all pages of the tile"; ;
        "Tells how much memory there is."
    ProcessCreate = 40, "process_create", Kernel;
        ; "the process's number"; NoMemory: "there is no place for a process more";
        "Makes a process with an empty address space, whose parent is the caller's process."
    ProcessCopy = 41, "process_copy", Kernel;
        ; "the process's number"; NoMemory: "there is no place for a process more, or for its tables";
        "Makes a process whose memory has the contents of the caller's. Pages are copied when one of both \
         stores to them. It has no thread yet."
    ProcessMap = 42, "process_map", Kernel;
        "process": "a child", "target": "an address there, or 0", "source": "an address here",
        "size": "in bytes, rounded up to pages; 16 MiB at most",
        "rights": "as of `memory_map`, and at most the caller's; 8 besides: the pages are shared";
        "the address";
        NotFound: "there is no such child, or a page of the source is not mapped",
        Busy: "the child has threads, and the pages are not shared", Invalid: "as of `memory_map`",
        AddressInUse: "a page there is mapped", NoMemory: "tables or memory are used up",
        NotPermitted: "more rights than the caller has, or pages to share that it cannot store to";
        "Gives pages of the caller to a child. They are copied when one of both stores to them. Pages that \
         are shared are never copied: both see each other's stores, and so do copies of the processes."
    ProcessStart = 43, "process_start", Kernel;
        "process": "a child without threads", "entry": "the address where its first thread begins",
        "stack": "the end of its stack", "argument": "what it has in a0";
        "the thread's number in the child";
        NotFound: "there is no such child", Busy: "it has threads", NoMemory: "no place for a thread";
        "Starts the first thread of a process."
    ProcessWait = 44, "process_wait", Kernel;
        "process": "a child, or 0 for any", "until": "a value of `time`";
        "the child's number; its status";
        NotFound: "there is no such child", TimedOut: "it has not ended in time";
        "Waits until a child has ended. The status is the value of its first thread, or 0x100 and the \
         number of the exception that ended it."
    ProcessEnd = 45, "process_end", Kernel;
        "process": "a child, or 0 for the caller's", "status": "what its parent gets"; "0";
        NotFound: "there is no such child";
        "Ends a process with all its threads. The machine ends with its first process."
    ProcessSelf = 46, "process_self", Kernel;
        ; "the caller's process; its parent"; ;
        "Tells the number of the process that calls."
    ConsoleWrite = 56, "console_write", Kernel;
        "text": "the address of bytes", "size": "how many"; "how many were written";
        BadAddress: "the caller cannot load the bytes";
        "Writes bytes to the console."
    ConsoleRead = 57, "console_read", Kernel;
        "buffer": "the address of bytes", "size": "how many at most", "until": "a value of `time`";
        "how many were read, or 0 at the end of the input";
        BadAddress: "the caller cannot store the bytes", TimedOut: "none came in time";
        "Waits for bytes from the console."
    ArchiveMap = 58, "archive_map", Kernel;
        ; "the address; its size in bytes"; NotFound: "the machine has none", NoMemory: "tables are used up";
        "Maps the archive of files that the machine has started with, for loads."
    KernelNothing = 59, "kernel_nothing", Kernel;
        ; "0"; ;
        "Goes to the kernel hart and back. It is what a remote call costs at least."
    MailboxCreate = 64, "mailbox_create", Kernel;
        "port": "below 2048"; "0";
        Exists: "the tile has a mailbox of this port", Invalid: "the port", NoMemory: "memory is used up";
        "Makes a mailbox, whose messages the caller's process gets. It has room for 16 messages."
    MailboxClose = 65, "mailbox_close", Kernel;
        "port": "of the caller's process"; "0";
        NotFound: "the tile has no mailbox of this port", NotPermitted: "it is another process's";
        "Removes a mailbox with its messages. It ends with its process, too."
    MailboxSend = 66, "mailbox_send", Unit;
        "tile": "the receiver's", "port": "the mailbox there", "message": "the address of 120 bytes, a multiple of 8",
        "until": "a value of `time`";
        "0";
        NotFound: "the tile has no mailbox of this port", Invalid: "the machine has no such tile, or no such port",
        BadAddress: "the caller cannot load the message", Dead: "no message comes to the tile",
        NoMemory: "memory of the receiver is used up",
        TimedOut: "the message was not taken in time; it may arrive later";
        "Sends a message, and returns when it is in the mailbox. Messages of one thread to one mailbox \
         arrive in their order."
    MailboxReceive = 67, "mailbox_receive", Unit;
        "port": "of the caller's process", "buffer": "the address of 120 bytes, a multiple of 8",
        "until": "a value of `time`";
        "0; the sender: its tile << 32 and its process";
        NotFound: "the tile has no mailbox of this port", NotPermitted: "it is another process's",
        BadAddress: "the caller cannot store a message there", TimedOut: "no message came in time";
        "Takes the oldest message of a mailbox, or waits for one."
    PortalWrite = 68, "portal_write", Unit;
        "tile": "the receiver's", "port": "the portal there", "data": "an address",
        "size": "bytes there, from 1 to 1 MiB", "until": "a value of `time`";
        "0";
        NotFound: "the tile has no portal of this port",
        Invalid: "the machine has no such tile or port, or the size is more than was allowed",
        BadAddress: "the caller cannot load the data", Dead: "the tile does not answer",
        TimedOut: "there was no consent in time";
        "Waits for a consent, and writes to the receiver's buffer. The data is there when the call returns."
    PortalCreate = 69, "portal_create", Kernel;
        "port": "below 1024"; "0";
        Exists: "the tile has a portal of this port", Invalid: "the port", NoMemory: "memory is used up";
        "Makes a portal, through which others write to memory of the caller's process, with its consent."
    PortalClose = 70, "portal_close", Kernel;
        "port": "of the caller's process"; "0";
        NotFound: "the tile has no portal of this port", NotPermitted: "it is another process's";
        "Removes a portal. Its consent is taken back. The port is free again when no transfer uses it \
         any more. A portal ends with its process, too."
    PortalAllow = 71, "portal_allow", Kernel;
        "port": "of the caller's process", "sender": "who may write: its tile << 32 and its process, or 0 for each",
        "buffer": "an address", "size": "bytes there, from 1 to 1 MiB";
        "0";
        NotFound: "the tile has no portal of this port", NotPermitted: "it is another process's",
        Busy: "there is a consent that was not used, or data that was not read",
        Invalid: "the size, or the sender's tile", BadAddress: "the caller cannot store there",
        Again: "the sender's tile has 64 consents that were not used", Dead: "no message comes to the tile",
        NoMemory: "memory is used up", NoCall: "caches are not coherent, and harts cannot drop them (XTheadCmo)";
        "Consents to one write of at most `size` bytes to the buffer. The memory stays until it is used \
         or taken back, also if the process gives it up."
    PortalRead = 72, "portal_read", Kernel;
        "port": "of the caller's process", "until": "a value of `time`";
        "0; how many bytes were written";
        NotFound: "the tile has no portal of this port", NotPermitted: "it is another process's",
        NoAccess: "the caller has not consented", Busy: "another thread waits for it",
        Dead: "the transfer has failed", TimedOut: "no data came in time";
        "Waits until the buffer has been written. The next consent is possible then."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_of_calls() {
        for page in PAGES {
            assert_eq!(
                Call::from_number(page.number).map(|call| call as u64),
                Some(page.number)
            );
        }
        assert_eq!(Call::from_number(3), None);
    }
}

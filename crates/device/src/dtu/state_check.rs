//! Saved states that no unit can have had are refused.
use flick_abi::dtu::CommandWord;

use super::bank_state::{Bank, Step};
use super::packet::CommandNumber;
use super::{DtuDescription, State, bits};
use crate::device::{BadState, check_state};

/// The name in messages about bad states.
pub(super) const DEVICE: &str = "data transfer unit";

/// Refuses a state that a unit of the description cannot have.
pub(super) fn check(state: &State, description: &DtuDescription) -> Result<(), BadState> {
    let same_banks = state.banks.len() == description.harts;
    check_state(DEVICE, same_banks, "other banks")?;
    let same_endpoints = state.endpoints.len() == usize::from(description.endpoints);
    check_state(DEVICE, same_endpoints, "other endpoints")?;
    let enables_banks = state.enable & !bits(state.banks.len()) == 0;
    check_state(DEVICE, enables_banks, "banks that it does not have")?;
    let mut endpoints = (0..).zip(&state.endpoints);
    let possible = endpoints.all(|(number, table)| table.is_possible(number, description.slots));
    check_state(DEVICE, possible, "an endpoint that cannot be")?;
    check_state(DEVICE, state.pages.is_possible(), "too many pages")?;
    let possible = state.heard.is_possible() && state.returned.is_possible();
    check_state(DEVICE, possible, "packets that cannot be")?;
    let mut running = state.banks.iter().filter_map(|bank| bank.running.as_ref());
    let possible = running.all(|running| running.is_possible(description.packet));
    check_state(DEVICE, possible, "a command that cannot be")?;
    // The slot would stay occupied for ever.
    let mut replies = (0..).zip(&state.endpoints).flat_map(|(number, table)| {
        let replies = table.replies();
        replies.map(move |(slot, command)| (number, slot, command))
    });
    let run = replies.all(|(number, slot, command)| replies_to(state, command, number, slot));
    check_state(DEVICE, run, "a reply that no bank makes")?;
    let tile = description.tile;
    let mut looped = state.looped.iter();
    let own = looped.all(|packet| packet.from == tile && packet.to == tile);
    check_state(DEVICE, own, "packets of another tile")
}

/// Whether a command is a `REPLY` under way to the message in a slot of an endpoint.
fn replies_to(state: &State, command: CommandNumber, endpoint: u16, slot: u8) -> bool {
    let bank = state.banks.get(usize::from(command.bank));
    let is_reply = |bank: &Bank| {
        let running = bank.running.as_ref()?;
        let word = running.word();
        let CommandWord {
            endpoint: e,
            slot: s,
            ..
        } = word;
        let same = (bank.number, e, s) == (command.number, endpoint, slot);
        Some(same && matches!(running.step, Step::Replied(_)))
    };
    bank.and_then(is_reply).unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use flick_abi::dtu::{self, Command, Endpoint, ReceiveEndpoint, SendEndpoint};

    use super::super::Dtu;
    use super::super::confirmation::{MOST_SENT, Unconfirmed};
    use super::super::data_transfer::DataTransfer;
    use super::super::packet::UNIT_BANK;
    use super::super::packet::{CommandNumber, Credit, Message, Packet, PacketKind};
    use super::*;
    use crate::device::{Device, Time, save_state};
    use crate::mock::Mock;

    const MEMORY: u64 = 0x8000_0000;

    fn write(unit: &mut Dtu, around: &mut Mock, offset: u64, value: u64) {
        unit.write(offset, 8, value, around).unwrap();
    }

    /// Endpoint 1 of activity 0 sends to endpoint 2 of the same unit, and a reply is under way.
    fn replying() -> (Dtu, Mock) {
        let description = DtuDescription {
            tile: 3,
            endpoints: 4,
            slots: 2,
            message: 64,
            packet: 64,
            command: 10,
            cycle: 1000,
            harts: 2,
            kernel: None,
            is_root: false,
            is_governed: false,
        };
        let mut unit = Dtu::new(description).unwrap();
        let mut around = Mock::with_memory(MEMORY, 0x1000);
        let send = Endpoint::Send(SendEndpoint {
            activity: 0,
            tile: 3,
            endpoint: 2,
            receiver: 0,
            label: 0,
            credits: 2,
            most_credits: 2,
            log2_message: 6,
        });
        for (number, endpoint) in [
            (1, send),
            (2, Endpoint::Receive(ReceiveEndpoint::new(0, MEMORY, 6, 2))),
            (
                3,
                Endpoint::Receive(ReceiveEndpoint::new(0, MEMORY + 0x100, 6, 2)),
            ),
        ] {
            for word in dtu::WRITE_ORDER {
                let offset = dtu::endpoint_word(number, word);
                write(&mut unit, &mut around, offset, endpoint.words()[word]);
            }
        }
        write(&mut unit, &mut around, dtu::current(0), 0);
        let send = CommandWord::new(Command::Send, 1).with_answer(3);
        write(&mut unit, &mut around, dtu::COMMAND, send.bits());
        around.run_until(&mut unit, 100, 10);
        let reply = CommandWord::new(Command::Reply, 2);
        write(&mut unit, &mut around, dtu::COMMAND, reply.bits());
        around.run_until(&mut unit, 110, 10);
        (unit, around)
    }

    fn is_refused(unit: &Dtu, change: impl Fn(&mut State)) -> bool {
        let mut state = unit.state.clone();
        change(&mut state);
        let mut unit = unit.clone();
        unit.load(&save_state(&state)).is_err()
    }

    #[test]
    fn hostile_states_are_refused() {
        let (unit, mut around) = replying();
        let step = &unit.state.banks[0].running.as_ref().unwrap().step;
        assert!(matches!(step, Step::Replied(_)));
        assert!(!is_refused(&unit, |_| ()));
        assert!(is_refused(&unit, |state| state.enable = 4));
        assert!(is_refused(&unit, |state| state.looped[0].from = 2));
        // The reply of another bank, of a former command, to another slot, or of none.
        assert!(is_refused(&unit, |state| state.banks.swap(0, 1)));
        assert!(is_refused(&unit, |state| state.banks[0].number += 1));
        assert!(is_refused(&unit, |state| state.banks[0].running = None));
        let word = |change: fn(&mut CommandWord)| {
            move |state: &mut State| {
                let running = state.banks[0].running.as_mut().unwrap();
                let mut word = running.word();
                change(&mut word);
                running.word = word.bits();
            }
        };
        assert!(!is_refused(&unit, word(|_| ())));
        assert!(is_refused(&unit, word(|word| word.slot = 1)));
        assert!(is_refused(&unit, word(|word| word.endpoint = 3)));
        assert!(is_refused(&unit, word(|word| word.command = 0)));
        assert!(is_refused(&unit, |state| {
            state.banks[0].running.as_mut().unwrap().word |= 1 << 63;
        }));
        // Other steps than those of the command.
        let step = |command: Command, step: Step| {
            move |state: &mut State| {
                let bank = &mut state.banks[1];
                bank.start(CommandWord::new(command, 1));
                bank.running.as_mut().unwrap().step = step.clone();
            }
        };
        let credit = |endpoint| {
            let message = Message {
                endpoint: 2,
                receiver: 0,
                header: [0; 24],
                payload: vec![],
                cost: Some(Credit { endpoint, setup: 1 }),
                refund: None,
            };
            Step::Sent(Unconfirmed { tile: 3, message })
        };
        let transfer = Step::Transfers(DataTransfer::new(1, 0, 0));
        assert!(!is_refused(&unit, step(Command::Send, credit(1))));
        assert!(is_refused(&unit, step(Command::Send, credit(2))));
        assert!(is_refused(&unit, step(Command::Read, credit(1))));
        assert!(is_refused(&unit, step(Command::Send, transfer.clone())));
        assert!(is_refused(
            &unit,
            step(Command::Send, Step::Sleeps(Time::MAX))
        ));
        assert!(is_refused(&unit, |state| {
            state.banks[0].running.as_mut().unwrap().repeats = MOST_SENT;
        }));
        // Slots that no endpoint has.
        for slot in [2, 31, 32, 190, 255] {
            assert!(is_refused(&unit, |state| state.endpoints[2]
                .unread
                .push(slot)));
        }
        // No packet is under way, so nothing would end it.
        assert!(is_refused(&unit, step(Command::Read, transfer)));
        // The unit itself goes on.
        let (mut again, mut around_again) = (unit.clone(), around.clone());
        again.load(&unit.save()).unwrap();
        around_again.run_until(&mut again, 1000, 10);
        let mut unit = unit;
        around.run_until(&mut unit, 1000, 10);
        assert_eq!((&again, &around_again), (&unit, &around));
        assert!(unit.state.banks.iter().all(|bank| bank.running.is_none()));
    }

    #[test]
    fn a_credit_for_no_endpoint_is_void() {
        let (mut unit, mut around) = replying();
        let before = unit.state.endpoints.clone();
        for (endpoint, setup) in [(200, 1), (2, 1), (1, 0), (1, 2)] {
            let (bank, number) = (UNIT_BANK, u64::from(endpoint) + u64::from(setup));
            let command = CommandNumber { bank, number };
            let kind = PacketKind::Credits(command, vec![Credit { endpoint, setup }]);
            unit.packet(
                Packet {
                    from: 1,
                    to: 3,
                    kind,
                },
                &mut around,
            );
        }
        assert_eq!(unit.state.endpoints, before);
    }
}

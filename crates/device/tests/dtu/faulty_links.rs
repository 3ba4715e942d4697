//! The model of the protocol with links that lose, repeat and delay packets, which the units recover from,
//! and with planted faults that the model must find.
use flick_device::dtu::PacketKind;
use stateright::{Checker, HasDiscoveries, Model};
use std::collections::BTreeSet;

use crate::model_state::{Fault, Scenario};
use crate::protocol_model::{
    CALM, CONSERVED, ENDS, IN_ORDER, NOTHING_BEHIND, ONCE, TO_ITS_OWN, check,
};

/// The properties that links with a fault do not have.
fn finds(fault: Fault, scenario: Scenario, properties: &[&'static str]) {
    let fault = Some(fault);
    let scenario = Scenario { fault, ..scenario };
    let wanted: BTreeSet<_> = properties.iter().copied().collect();
    let checker = scenario.checker();
    let checker = checker.finish_when(HasDiscoveries::AllOf(wanted));
    let checker = checker.spawn_bfs().join();
    for property in properties {
        checker.assert_any_discovery(property);
    }
}

const TRANSFERS: Scenario = Scenario {
    messages: [0, 0],
    transfers: 2,
    slots: 2,
    ..CALM
};

#[test]
fn packets_that_are_lost() {
    let losses = 2;
    assert!(check(Scenario { losses, ..CALM }) > 1_000);
    let (answers, messages) = (true, [1, 1]);
    check(Scenario {
        losses,
        answers,
        messages,
        ..CALM
    });
    check(Scenario {
        losses,
        ..TRANSFERS
    });
}

#[test]
fn packets_that_come_twice_or_late() {
    let (repeats, delays, early) = (1, 1, 1);
    let messages = [2, 1];
    check(Scenario {
        repeats,
        delays,
        messages,
        ..CALM
    });
    check(Scenario {
        repeats,
        early,
        messages,
        ..CALM
    });
    let (answers, messages) = (true, [1, 1]);
    check(Scenario {
        repeats,
        early,
        answers,
        messages,
        ..CALM
    });
    check(Scenario {
        repeats: 2,
        delays,
        early,
        ..TRANSFERS
    });
}

#[test]
fn all_at_once() {
    let (losses, repeats, delays, early) = (1, 1, 1, 1);
    let messages = [2, 0];
    check(Scenario {
        losses,
        repeats,
        delays,
        early,
        messages,
        ..CALM
    });
}

/// Links that carry no packets of a class any more.
#[test]
fn dead_links() {
    let messages = |kind: &PacketKind| matches!(kind, PacketKind::Message(..));
    let confirmations = |kind: &PacketKind| matches!(kind, PacketKind::Done { .. });
    for fault in [Fault::Lost(messages), Fault::Lost(confirmations)] {
        let fault = Some(fault);
        check(Scenario {
            fault,
            slots: 2,
            ..CALM
        });
    }
}

#[test]
fn planted_faults_are_found() {
    let two_slots = Scenario { slots: 2, ..CALM };
    let credits = |kind: &PacketKind| matches!(kind, PacketKind::Credits(..));
    finds(Fault::Renumbered(credits), two_slots.clone(), &[CONSERVED]);
    finds(Fault::LostForEver(credits), two_slots.clone(), &[CONSERVED]);
    let messages = |kind: &PacketKind| matches!(kind, PacketKind::Message(..));
    finds(
        Fault::Renumbered(messages),
        two_slots.clone(),
        &[ONCE, IN_ORDER, CONSERVED],
    );
    finds(Fault::LostForEver(messages), CALM, &[ENDS]);
    let given_away = Scenario {
        gives_away: true,
        switches: 1,
        ..CALM
    };
    finds(Fault::OtherReceiver, given_away, &[TO_ITS_OWN]);
    let writes = |kind: &PacketKind| matches!(kind, PacketKind::Write { .. });
    let one_part = Scenario {
        transfers: 1,
        ..TRANSFERS
    };
    finds(Fault::Renumbered(writes), one_part, &[NOTHING_BEHIND]);
}

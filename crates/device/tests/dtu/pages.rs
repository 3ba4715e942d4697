//! Reads and writes of pages: entries that a root writes, faults that a pager answers, and pages that are taken away.
use flick_abi::dtu::{
    self, Command, CommandWord, Endpoint, Error, ForwardedHeader, Header, Invalidation,
    NO_ANSWER_ENDPOINT, PAGE_ENTRIES, PAGE_SIZE, PageAnswer, PageEntry, PageFault, PagesEndpoint,
    ReceiveEndpoint, SendEndpoint,
};
use flick_device::Device;
use flick_device::dtu::{Dtu, PacketKind};

use crate::network::{Network, description};
use crate::paged_network::{
    ANSWER, ASKS, BUFFER, ENTRY, FILES_SIZE, FIRST, LOCAL, PAGE, PAGES, READ, ROOT, SERVES, WRITE,
    access, answer, fault, has_read, invalidate, memory, outcome, paged, root_reads, root_writes,
    set_entry,
};

#[test]
fn a_root_gives_pages() {
    let mut network = paged(NO_ANSWER_ENDPOINT);
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoPage));
    set_entry(&mut network, 200, ENTRY);
    assert_eq!(root_reads(&mut network, dtu::page_entry(200, 0)), PAGE | 1);
    for (offset, size) in [(0, 4096), (0, 1), (4095, 1), (100, 2500), (7, 0)] {
        assert_eq!(outcome(&mut network, READ, PAGE + offset, size), Ok(0));
        has_read(&mut network, 0, 0x3000 + offset, size as usize);
    }
    // Another page, two pages, another right, another endpoint.
    for address in [PAGE + 4096, PAGE - 1, 0, u64::MAX] {
        assert_eq!(outcome(&mut network, READ, address, 1), Err(Error::NoPage));
    }
    for (address, size) in [
        (PAGE + 4000, 97),
        (PAGE, 4097),
        (PAGE, u64::MAX),
        (u64::MAX, 2),
    ] {
        assert_eq!(
            outcome(&mut network, READ, address, size),
            Err(Error::OutOfBounds)
        );
    }
    assert_eq!(outcome(&mut network, WRITE, PAGE, 8), Err(Error::NoPage));
    let entry = PageEntry {
        endpoint: PAGES + 1,
        page: PAGE + 4096,
        ..ENTRY
    };
    set_entry(&mut network, 1, entry);
    assert_eq!(
        outcome(&mut network, READ, PAGE + 4096, 8),
        Err(Error::NoPage)
    );
    // Pages are of the memory endpoint, with its bounds and rights, and of the activity.
    for (entry, error) in [
        (
            PageEntry {
                offset: FILES_SIZE - 4,
                ..ENTRY
            },
            Error::OutOfBounds,
        ),
        (
            PageEntry {
                offset: u64::MAX,
                ..ENTRY
            },
            Error::OutOfBounds,
        ),
        (
            PageEntry {
                memory: ASKS,
                ..ENTRY
            },
            Error::NoEndpoint,
        ),
        (
            PageEntry {
                memory: 0xffff,
                ..ENTRY
            },
            Error::NoEndpoint,
        ),
    ] {
        set_entry(&mut network, 200, entry);
        assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(error));
    }
    set_entry(&mut network, 200, ENTRY);
    network.write(1, 3, dtu::window_base(0), LOCAL);
    network.write(1, 3, dtu::window_size(0), 4);
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoMemory));
    network.write(1, 3, dtu::window_size(0), 8);
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Ok(0));
    network.write(1, 3, dtu::current(0), 12);
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoEndpoint));
    network.write(1, 3, dtu::current(0), FIRST.into());
    // A kernel that sets the endpoint up takes all pages away.
    let pages = Endpoint::Pages(PagesEndpoint::new(FIRST, NO_ANSWER_ENDPOINT));
    network.set_up(1, PAGES, pages);
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoPage));
}

#[test]
fn a_pager_answers() {
    let mut network = paged(ASKS);
    access(&mut network, 0, PAGE + 20, 100);
    network.start(1, 0, READ);
    let (asked, slot) = fault(&mut network).unwrap();
    let is_write = false;
    assert_eq!(
        asked,
        PageFault {
            page: PAGE,
            is_write
        }
    );
    assert_eq!(network.credits(1, ASKS), 0);
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.result(1, 0), Ok(0));
    has_read(&mut network, 0, 0x3000 + 20, 100);
    assert_eq!(network.credits(1, ASKS), 1);
    // The unit keeps the page, and asks again for the right to write.
    assert_eq!(outcome(&mut network, READ, PAGE, 4096), Ok(0));
    network.start(1, 0, WRITE);
    let (asked, slot) = fault(&mut network).unwrap();
    assert!(asked.is_write);
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.result(1, 0), Err(Error::NoRight));
    network.start(1, 0, WRITE);
    let (_, slot) = fault(&mut network).unwrap();
    let can_write = true;
    answer(
        &mut network,
        slot,
        PageAnswer {
            can_write,
            ..ANSWER
        },
    );
    assert_eq!(network.result(1, 0), Ok(0));
    // There is no such page: an error, or no rights.
    for bad in [
        PageAnswer { error: 5, ..ANSWER },
        PageAnswer {
            can_read: false,
            ..ANSWER
        },
    ] {
        access(&mut network, 0, PAGE + 0x5000, 8);
        network.start(1, 0, READ);
        let (_, slot) = fault(&mut network).unwrap();
        answer(&mut network, slot, bad);
        assert_eq!(network.result(1, 0), Err(Error::NoPage));
    }
    assert_eq!(network.credits(1, ASKS), 1);
    // The endpoint of the pager is another one's.
    network.set_up(
        1,
        ASKS,
        Endpoint::Receive(ReceiveEndpoint::new(FIRST, BUFFER, 6, 1)),
    );
    assert_eq!(
        outcome(&mut network, READ, PAGE + 0x5000, 8),
        Err(Error::NoPage)
    );
}

#[test]
fn messages_to_a_pager_that_fail() {
    let mut network = paged(ASKS);
    // Its buffer is full, nobody serves, no credit is left.
    let full = ReceiveEndpoint::new(ROOT, BUFFER, 6, 0);
    network.set_up(0, SERVES, Endpoint::Receive(full));
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoSpace));
    assert_eq!(network.credits(1, ASKS), 1);
    network.set_up(
        0,
        SERVES,
        Endpoint::Receive(ReceiveEndpoint::new(9, BUFFER, 6, 1)),
    );
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::Gone));
    assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(Error::NoCredits));
    for (tile, log2_message, error) in [(0, 5, Error::OutOfBounds), (9, 6, Error::Unreachable)] {
        let send = Endpoint::Send(SendEndpoint {
            activity: FIRST,
            tile,
            endpoint: SERVES,
            receiver: ROOT,
            label: 0,
            credits: 1,
            most_credits: 1,
            log2_message,
        });
        network.set_up(1, ASKS, send);
        assert_eq!(outcome(&mut network, READ, PAGE, 8), Err(error));
        assert_eq!(network.credits(1, ASKS), 1);
        let words = network.endpoint(1, PAGES);
        assert!(matches!(
            words,
            Some(Endpoint::Pages(PagesEndpoint { pending: None, .. }))
        ));
    }
}

/// Others than the pager say where a page is, and the pager says it twice.
#[test]
fn answers_that_nobody_has_asked_for() {
    let mut network = paged(ASKS);
    access(&mut network, 0, PAGE, 64);
    network.start(1, 0, READ);
    let (_, slot) = fault(&mut network).unwrap();
    // A message is no answer, and a message that the root forwards as one has another label.
    let send = Endpoint::Send(SendEndpoint {
        activity: ROOT,
        tile: 1,
        endpoint: PAGES,
        receiver: FIRST,
        label: 1,
        credits: 2,
        most_credits: 2,
        log2_message: 8,
    });
    network.set_up(0, 7, send);
    let forged = PageAnswer {
        offset: 0x5000,
        ..ANSWER
    };
    let word = CommandWord::new(Command::Send, 7);
    let sent = network.send(0, 0, word, &forged.bytes());
    assert_eq!(sent, Err(Error::Gone));
    for label in [0, 2, u64::MAX] {
        let forwarded = ForwardedHeader {
            header: Header {
                flags: dtu::FLAG_ANSWER,
                label,
                ..Header::default()
            },
            ..ForwardedHeader::default()
        };
        let bytes = [&forwarded.bytes()[..], &forged.bytes()].concat();
        let word = CommandWord::new(Command::Forward, 7);
        assert_eq!(network.send(0, 0, word, &bytes), Ok(0));
        network.rest();
        assert_ne!(network.read(1, 0, dtu::COMMAND), 0, "label {label}");
    }
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.result(1, 0), Ok(0));
    has_read(&mut network, 0, 0x3000, 64);
    // The fault was answered.
    let forwarded = ForwardedHeader {
        header: Header {
            flags: dtu::FLAG_ANSWER,
            label: 1,
            ..Header::default()
        },
        ..ForwardedHeader::default()
    };
    let bytes = [&forwarded.bytes()[..], &forged.bytes()].concat();
    let word = CommandWord::new(Command::Forward, 7);
    assert_eq!(network.send(0, 0, word, &bytes), Ok(0));
    assert_eq!(outcome(&mut network, READ, PAGE, 64), Ok(0));
    has_read(&mut network, 0, 0x3000, 64);
}

#[test]
fn harts_share_an_endpoint() {
    let mut network = paged(ASKS);
    access(&mut network, 0, PAGE, 64);
    access(&mut network, 1, PAGE + 64, 64);
    network.start(1, 0, READ);
    network.start(1, 1, READ);
    let (_, slot) = fault(&mut network).unwrap();
    answer(&mut network, slot, ANSWER);
    // One answer is for both.
    assert_eq!((network.result(1, 0), network.result(1, 1)), (Ok(0), Ok(0)));
    has_read(&mut network, 1, 0x3000 + 64, 64);
    // Another page waits until the first fault is answered.
    access(&mut network, 0, PAGE + 0x1000, 64);
    access(&mut network, 1, PAGE + 0x2000, 64);
    network.start(1, 0, READ);
    network.start(1, 1, READ);
    let (first, slot) = fault(&mut network).unwrap();
    assert!(fault(&mut network).is_none());
    answer(&mut network, slot, PageAnswer { error: 1, ..ANSWER });
    let (second, slot) = fault(&mut network).unwrap();
    assert_eq!((first.page, second.page), (PAGE + 0x1000, PAGE + 0x2000));
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.result(1, 0), Err(Error::NoPage));
    assert_eq!(network.result(1, 1), Ok(0));
}

#[test]
fn aborts_and_pages_that_are_taken_away() {
    let mut network = paged(ASKS);
    // An aborted command leaves the fault, and is made again without another message.
    access(&mut network, 0, PAGE, 64);
    network.start(1, 0, READ);
    let (_, slot) = fault(&mut network).unwrap();
    network.rest();
    network.write(1, 3, dtu::ABORT, 0);
    assert_eq!(network.read(1, 3, dtu::ABORT), 0);
    assert_eq!(network.result(1, 0), Err(Error::Aborted));
    network.write(1, 3, dtu::ENABLE, u64::MAX);
    network.start(1, 0, READ);
    assert!(fault(&mut network).is_none());
    // The page is taken away: the answer comes too late, and another message is needed.
    invalidate(&mut network, Some(PAGE + 0x1000));
    assert_ne!(network.read(1, 0, dtu::COMMAND), 0);
    invalidate(&mut network, Some(PAGE));
    assert_eq!(network.result(1, 0), Err(Error::Aborted));
    assert_eq!(network.command(1, 0, READ), Err(Error::NoCredits));
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.credits(1, ASKS), 1);
    network.start(1, 0, READ);
    let (_, slot) = fault(&mut network).unwrap();
    answer(&mut network, slot, ANSWER);
    assert_eq!(network.result(1, 0), Ok(0));
    // A kernel gives the endpoint to somebody else while a command waits.
    access(&mut network, 0, PAGE + 0x1000, 64);
    network.start(1, 0, READ);
    assert!(fault(&mut network).is_some());
    network.rest();
    network.set_up(1, PAGES, memory(0));
    assert_eq!(network.result(1, 0), Err(Error::Aborted));
}

/// The root waits until nothing reaches the page any more.
#[test]
fn a_transfer_of_a_page_that_is_taken_away() {
    let mut long = description(1);
    // More packets than are under way at a time.
    long.packet = 64;
    for page in [Some(PAGE), None] {
        let mut network = paged(NO_ANSWER_ENDPOINT);
        let mut unit = Dtu::new(long.clone()).unwrap();
        unit.load(&network.units[1].save()).unwrap();
        network.units[1] = unit;
        set_entry(&mut network, 3, ENTRY);
        access(&mut network, 0, PAGE, 4096);
        // The first packet is lost, and is sent again much later.
        network.links.loses =
            Box::new(|packet| matches!(packet.kind, PacketKind::Read { part: 0, .. }));
        network.start(1, 0, READ);
        network.step();
        network.links.loses = Box::new(|_| false);
        let endpoint = PAGES as u8;
        let bits = Invalidation { endpoint, page }.bits();
        root_writes(&mut network, dtu::INVALIDATE, &[bits]);
        let mut polls = 0;
        while root_reads(&mut network, dtu::INVALIDATE) != 0 {
            polls += 1;
            assert!(polls < 10_000);
        }
        assert!(polls > 3, "{polls}");
        assert_eq!(network.result(1, 0), Err(Error::Aborted));
        assert_eq!(network.command(1, 0, READ), Err(Error::NoPage));
    }
}

#[test]
fn a_unit_keeps_so_many_pages() {
    let mut network = paged(ASKS);
    let pages = PAGE_ENTRIES as u64 + 3;
    let page = |n: u64| PAGE + PAGE_SIZE * (n % pages);
    let mut faults = 0;
    for n in 0..2 * pages {
        access(&mut network, 0, page(n), 4);
        network.start(1, 0, READ);
        if let Some((asked, slot)) = fault(&mut network) {
            assert_eq!(asked.page, page(n));
            let offset = PAGE_SIZE * (n % pages % 0x60);
            answer(&mut network, slot, PageAnswer { offset, ..ANSWER });
            faults += 1;
        }
        assert_eq!(network.result(1, 0), Ok(0));
        has_read(&mut network, 0, PAGE_SIZE * (n % pages % 0x60), 4);
    }
    assert!(faults > pages, "{faults}");
}

#[test]
fn a_snapshot_while_a_command_waits() {
    let mut network = paged(ASKS);
    access(&mut network, 0, PAGE, 64);
    network.start(1, 0, READ);
    let again = |network: &mut Network| {
        let saved = network.units[1].save();
        let mut unit = Dtu::new(description(1)).unwrap();
        unit.load(&saved).unwrap();
        assert!(unit == network.units[1]);
        network.units[1] = unit;
    };
    again(&mut network);
    network.step();
    again(&mut network);
    let (_, slot) = fault(&mut network).unwrap();
    network.rest();
    again(&mut network);
    answer(&mut network, slot, ANSWER);
    again(&mut network);
    assert_eq!(network.result(1, 0), Ok(0));
    has_read(&mut network, 0, 0x3000, 64);
}

use super::*;
use crate::cpus::Cpu;

const ZBA: u32 = 0x20b5_6533;
const ZBB: u32 = 0x40b5_7533;
const CUSTOM: u32 = 0x0000_000b;
const UNKNOWN: u32 = 0xffff_ffff;
const VECTOR: u32 = 0x0d00_7057;
const POLICY: Policy = Policy {
    hold: 100,
    longest: 350,
};

/// CPUs 0 and 1 are general, 2 has Zba, 3 Zba and Zbb, 4 Zbb and V.
fn cpus() -> Cpus {
    let cpu = |(number, extensions): (usize, &str)| Cpu {
        number,
        extensions: extensions.split(' ').map(String::from).collect(),
        ..Cpu::default()
    };
    let all = [
        (0, "i"),
        (1, "i"),
        (2, "i zba"),
        (3, "i zba zbb"),
        (4, "i zbb v"),
    ];
    Cpus::new(all.into_iter().map(cpu).collect())
}

fn fault(word: u32, pc: u64, now: Time) -> Fault {
    Fault {
        pc,
        word,
        last_cpu: 0,
        now,
    }
}

fn moved(cpus: &str) -> Decision {
    Decision::Move(cpus.parse().unwrap())
}

fn place(own: &str) -> Place {
    Place::new(own.parse().unwrap(), &POLICY)
}

#[test]
fn a_thread_goes_to_cpus_that_have_it_and_that_it_may_use() {
    assert_eq!(
        place("0-4").fault(&cpus(), &POLICY, &fault(ZBA, 4, 0)),
        moved("2-3")
    );
    assert_eq!(
        place("0-2").fault(&cpus(), &POLICY, &fault(ZBA, 4, 0)),
        moved("2")
    );
    let refused = place("0-1,4").fault(&cpus(), &POLICY, &fault(ZBA, 4, 0));
    let zba = Need::Extension("zba");
    let mask = Refusal::Mask(zba, "2-3".parse().unwrap());
    assert_eq!(refused, Decision::Refuse(mask));
}

#[test]
fn a_place_with_all_that_it_needs_comes_first() {
    let mut one = place("0-4");
    assert_eq!(one.fault(&cpus(), &POLICY, &fault(ZBA, 4, 0)), moved("2-3"));
    assert_eq!(one.fault(&cpus(), &POLICY, &fault(ZBB, 8, 1)), moved("3"));
    // CPU 3 is not allowed: the thread goes to and fro.
    let mut other = place("0-2,4");
    assert_eq!(other.fault(&cpus(), &POLICY, &fault(ZBA, 4, 0)), moved("2"));
    assert_eq!(other.fault(&cpus(), &POLICY, &fault(ZBB, 8, 1)), moved("4"));
    assert_eq!(other.fault(&cpus(), &POLICY, &fault(ZBA, 4, 2)), moved("2"));
}

#[test]
fn each_kind_tries_an_unknown_instruction_once() {
    let mut place = place("0-4");
    let mut tried = CpuSet::EMPTY;
    for _ in 0..4 {
        let Decision::Move(to) = place.fault(&cpus(), &POLICY, &fault(UNKNOWN, 4, 0)) else {
            panic!("refused after {tried}");
        };
        assert!(to.and(&tried).is_empty());
        tried = tried.or(&to);
    }
    assert_eq!(tried.to_string(), "0-4");
    let refused = place.fault(&cpus(), &POLICY, &fault(UNKNOWN, 4, 0));
    assert_eq!(refused, Decision::Refuse(Refusal::AllTried));
}

#[test]
fn where_cpus_are_alike_nothing_is_tried() {
    let refused = place("0-1").fault(&cpus(), &POLICY, &fault(UNKNOWN, 4, 0));
    assert_eq!(refused, Decision::Refuse(Refusal::AllTried));
    // Nobody tells a vendor's extension: as any unknown instruction.
    let moves = place("0-2").fault(&cpus(), &POLICY, &fault(CUSTOM, 4, 0));
    assert_eq!(moves, moved("2"));
}

#[test]
fn a_cpu_that_does_not_execute_what_it_is_said_to_have() {
    let mut place = place("0-2");
    assert_eq!(place.fault(&cpus(), &POLICY, &fault(ZBA, 4, 0)), moved("2"));
    let refused = place.fault(&cpus(), &POLICY, &fault(ZBA, 4, 1));
    let why = Refusal::NotExecuted(Need::Extension("zba"), "2".parse().unwrap());
    assert_eq!(refused, Decision::Refuse(why));
}

#[test]
fn vectors_are_refused_with_the_reason() {
    let Decision::Refuse(refusal) = place("0-4").fault(&cpus(), &POLICY, &fault(VECTOR, 4, 0))
    else {
        panic!("moved");
    };
    let text = refusal.to_string();
    assert!(
        text.contains("on CPUs 4") && text.contains("only if all CPUs have it"),
        "{text}"
    );
}

#[test]
fn who_comes_back_soon_is_held_longer_up_to_a_limit() {
    let mut place = place("0-4");
    let mut now = 1000;
    for hold in [100, 200, 350, 350] {
        place.fault(&cpus(), &POLICY, &fault(ZBA, 4, now));
        assert_eq!(place.until(), Some(now + hold));
        now += hold;
        assert_eq!(place.free(now), hold);
        now += 1;
    }
    // After a rest as long as it was held, it begins anew.
    now += 350;
    place.fault(&cpus(), &POLICY, &fault(ZBA, 4, now));
    assert_eq!(place.until(), Some(now + 100));
}

#[test]
fn faults_that_widening_causes_are_few() {
    // The worst case: Linux moves the thread away as soon as it may, and it faults at once.
    let mut place = place("0-4");
    let (mut now, mut faults) = (1000, 0);
    while now < 1000 + 35_000 {
        place.fault(&cpus(), &POLICY, &fault(ZBA, 4, now));
        faults += 1;
        now = place.until().unwrap();
        place.free(now);
    }
    assert!(faults <= 2 + 35_000 / 350, "{faults}");
}

#[test]
fn a_mask_of_the_program_ends_the_hold() {
    let mut place = place("0-4");
    place.fault(&cpus(), &POLICY, &fault(ZBA, 4, 0));
    place.set_own("0,2".parse().unwrap(), 5);
    assert_eq!((place.held(), place.until()), (None, None));
    assert_eq!(place.fault(&cpus(), &POLICY, &fault(ZBA, 4, 6)), moved("2"));
}

//! Packets between tiles: their times, their order, and runs that repeat.
use flick_timing::network::LinkCounts;

use super::*;

const LATENCY: u64 = 20_000;
const CYCLE: u64 = 2_500;
const WIDTH: u64 = 4;
const PAYLOAD: u64 = 1000;
const BYTES: u64 = packet_port::HEADER + PAYLOAD;
/// How long a packet keeps a channel.
const DURATION: u64 = BYTES.div_ceil(WIDTH) * CYCLE;
/// From the sender's look at its clock to the access that sends.
const SENDS: u64 = 2_000;

/// Each tile but the first sends it a packet at the same time. The end's status is the sum of how long
/// they took, in nanoseconds.
const TO_THE_FIRST: &str = r#"
    bnez s2, wait
    li t0, 1000
    sd t0, SIZE(s0)
    beqz s1, first
    ld t0, NOW(s0)
    sd t0, VALUE(s0)
    sd zero, SEND(s0)
    j wait
first:
    li t0, 0x800
    csrs mie, t0
    li a0, 0
    li s3, OTHERS
1:  wfi
2:  ld t0, UNREAD(s0)
    beqz t0, 1b
    ld t0, POP(s0)
    ld t1, ARRIVED(s0)
    sub t1, t1, t0
    add a0, a0, t1
    addi s3, s3, -1
    bnez s3, 2b
    li t0, 1000
    divu a0, a0, t0
    j end
wait:
    wfi
    j wait
"#;

fn to_the_first(others: u64) -> Vec<u8> {
    let text = TO_THE_FIRST.replace("OTHERS", &others.to_string());
    program(&format!("to_the_first_{others}"), &text)
}

#[test]
fn a_packet_takes_its_hops_and_its_bytes() {
    let took = LATENCY + DURATION + SENDS;
    on_tiles(&[], &to_the_first(1), None, |machine| {
        let (end, ..) = run(machine);
        assert_eq!(end, End::Exit((took / 1000) as u32));
        let (packets, bytes, wait) = (1, BYTES, 0);
        let counts = LinkCounts {
            packets,
            bytes,
            wait,
        };
        assert_eq!(machine.link_counts(), [("noc".to_owned(), counts)]);
    });
}

/// On four tiles that of the last one goes by tile 2, whose own packet keeps the channel.
#[test]
fn a_packet_waits_for_a_busy_channel() {
    let direct = LATENCY + DURATION + SENDS;
    let behind = DURATION + LATENCY + DURATION + SENDS;
    let settings = ["tile.tile.count=4"];
    on_tiles(&settings, &to_the_first(3), None, |machine| {
        let (end, ..) = run(machine);
        assert_eq!(end, End::Exit(((2 * direct + behind) / 1000) as u32));
        let (_, counts) = &machine.link_counts()[0];
        assert_eq!(counts.wait, DURATION - LATENCY);
        assert_eq!((counts.packets, counts.bytes), (3, 3 * BYTES));
    });
}

#[test]
fn what_no_link_leads_to_is_not_sent() {
    let firmware = program(
        "nowhere",
        r#"
            li a0, 1
            li t0, 2
            sd t0, SEND(s0)
            ld t1, SENT(s0)
            bnez t1, end
            li t0, 0xffff
            sd t0, SEND(s0)
            ld t1, SENT(s0)
            bnez t1, end
            # To the tile itself.
            sd s1, SEND(s0)
            ld t1, SENT(s0)
            beqz t1, end
            ld t1, UNREAD(s0)
            beqz t1, end
            li a0, 7
            j end
        "#,
    );
    let settings = ["tile.hart.count=1"];
    assert_eq!(on_tiles(&settings, &firmware, None, run).0, End::Exit(7));
}

/// Each tile sends numbered packets to both neighbours, and checks those that it gets. Tile 0 prints and
/// ends when it has all. Hart 1 of each tile computes.
fn all_to_neighbours() -> Vec<u8> {
    program(
        "neighbours",
        r#"
            bnez s2, compute
            la s4, last
            li t0, 0x800
            csrs mie, t0
            li s5, 20
            li s6, 40
            li t0, 200
            sd t0, SIZE(s0)
            li s3, 1
        send:
            sd s3, VALUE(s0)
            addi t0, s1, 1
            andi t0, t0, 3
            sd t0, SEND(s0)
            addi t0, s1, 3
            andi t0, t0, 3
            sd t0, SEND(s0)
            slli t0, s1, 5
        1:  addi t0, t0, -1
            bgtz t0, 1b
            addi s3, s3, 1
            ble s3, s5, send
        receive:
            ld t0, UNREAD(s0)
            bnez t0, 2f
            wfi
            j receive
        2:  ld t0, POP(s0)
            ld t1, FROM(s0)
            slli t1, t1, 3
            add t1, t1, s4
            ld t2, (t1)
            addi t2, t2, 1
            sd t2, (t1)
            li a0, 1
            bne t0, t2, end
            ld t3, ARRIVED(s0)
            xor s7, s7, t3
            addi s6, s6, -1
            bnez s6, receive
            bnez s1, wait
            li t0, 0x10000000
            li t1, 46
            sb t1, (t0)
            slli a0, s7, 50
            srli a0, a0, 50
            j end
        wait:
            wfi
            j wait
        compute:
            la t0, field
        3:  addi t1, t1, 72
            slli t2, t1, 52
            srli t2, t2, 52
            add t2, t2, t0
            ld t3, (t2)
            addi t3, t3, 1
            sd t3, (t2)
            j 3b
            .balign 64
        last: .dword 0, 0, 0, 0
            .balign 64
        field: .space 4200
        "#,
    )
}

const FOUR: [&str; 1] = ["tile.tile.count=4"];

#[test]
fn packets_of_a_sender_arrive_in_order_and_runs_repeat() {
    let firmware = all_to_neighbours();
    let (end, printed, cycles) = on_tiles(&FOUR, &firmware, None, run);
    assert_eq!(printed, ".");
    assert!(matches!(end, End::Exit(status) if status > 1), "{end:?}");
    let first = (end, printed, cycles);
    assert_eq!(on_tiles(&FOUR, &firmware, None, run), first);
    let timed = on_tiles(&FOUR, &firmware, Some(100), run);
    assert_eq!(timed.1, ".");
    assert_eq!(on_tiles(&FOUR, &firmware, Some(100), run), timed);
}

/// At most of these times packets are under way.
#[test]
fn snapshots_have_the_packets_under_way() {
    let firmware = all_to_neighbours();
    let expected = on_tiles(&FOUR, &firmware, None, run);
    let mut under_way = 0;
    for time in (100_000..3_000_000).step_by(130_000) {
        on_tiles(&FOUR, &firmware, None, |machine| {
            machine.run_until(time, &mut Printed::default());
            under_way += usize::from(machine.packets_under_way() != 0);
        });
        assert_eq!(with_snapshot(&FOUR, &firmware, time), expected, "{time}");
    }
    assert!(under_way > 5, "{under_way}");
}

#[test]
fn half_the_slice_moves_no_result() {
    let firmware = all_to_neighbours();
    let cycles = [100, 50, 10].map(|slice| {
        let (_, printed, cycles) = on_tiles(&FOUR, &firmware, Some(slice), run);
        assert_eq!(printed, ".");
        cycles[0] as f64
    });
    for other in &cycles[1..] {
        let moved = (other / cycles[0] - 1.0).abs();
        assert!(moved < 0.005, "{cycles:?}");
    }
}

/// A hart whose tile has a unit can wait for its interrupt.
#[test]
fn the_interrupt_of_a_unit_can_be_enabled() {
    let firmware = program(
        "enabled",
        r#"
            li t0, -1
            csrw mie, t0
            csrr a0, mie
            srli a0, a0, 16
            andi a0, a0, 3
            addi a0, a0, 40
            j end
        "#,
    );
    on_tiles(&[], &firmware, None, |machine| {
        assert_eq!(run(machine).0, End::Exit(41));
    });
}

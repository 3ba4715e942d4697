//! What tiles do not share, and what they do: the clock, the console, and the end.
use flick_machine::Board;
use flick_timing::faults;

use super::*;

/// Both tiles store to the same addresses, and each reads its own value.
#[test]
fn equal_addresses_are_memories_apart() {
    let firmware = program(
        "apart",
        r#"
            bnez s2, wait
            la t0, word
            addi t1, s1, 40
            li t3, 1000
        1:  ld t2, (t0)
            bnez t2, bad
            sd t1, (t0)
            addi t3, t3, -1
            ld t2, (t0)
            bne t2, t1, bad
            sd zero, (t0)
            bnez t3, 1b
            sd t1, (t0)
            bnez s1, wait
            li t3, 20000
        2:  addi t3, t3, -1
            bnez t3, 2b
            ld a0, (t0)
            j end
        bad:
            li a0, 1
            j end
        wait:
            wfi
            j wait
            .balign 8
        word: .dword 0
        "#,
    );
    on_tiles(&["tile.tile.count=4"], &firmware, None, |machine| {
        assert_eq!(run(machine).0, End::Exit(40));
        let word = |tile: usize| {
            let board = &machine.boards()[tile];
            let mut bytes = [0; 8];
            board.read_memory(find_word(board), &mut bytes).unwrap();
            u64::from_le_bytes(bytes)
        };
        assert_eq!([0, 1, 2, 3].map(word), [40, 41, 42, 43]);
    });
}

/// A hart's number, its tile, and its timer and software interrupt are of its own tile.
#[test]
fn devices_know_the_hart_of_their_tile() {
    let firmware = program(
        "own_hart",
        r#"
            ld t0, HART(s0)
            li a0, 1
            bne t0, s2, end
            # Hart 0 of each tile wakes hart 1 of its tile; that of the last tile ends the machine.
            li t1, 8
            csrs mie, t1
            bnez s2, second
            li t0, 5000
        1:  addi t0, t0, -1
            bnez t0, 1b
            bnez s1, 2f
            li t0, 0x2000000
            li t1, 1
            sw t1, 4(t0)
        2:  wfi
            j 2b
        second:
            wfi
            addi a0, s1, 60
            j end
        "#,
    );
    on_tiles(&[], &firmware, None, |machine| {
        let (end, _, cycles) = run(machine);
        assert_eq!(end, End::Exit(60));
        assert!(cycles[1] > 10_000 && cycles[3] < 100, "{cycles:?}");
    });
}

#[test]
fn tiles_print_in_the_order_of_time() {
    let firmware = program(
        "prints",
        r#"
            bnez s2, wait
            # Tile n prints its letter at times n, n + 4, n + 8...
            slli t0, s1, 10
        1:  addi t0, t0, -1
            bgtz t0, 1b
            li t1, 0x10000000
            li t2, 5
        2:  addi t3, s1, 65
            sb t3, (t1)
            li t0, 4096
        3:  addi t0, t0, -1
            bgtz t0, 3b
            addi t2, t2, -1
            bnez t2, 2b
            li a0, 3
            li t0, 3
            beq s1, t0, end
        wait:
            wfi
            j wait
        "#,
    );
    let settings = ["tile.tile.count=4"];
    let runs = [None, Some(100)].map(|slice| on_tiles(&settings, &firmware, slice, run));
    for (end, printed, _) in &runs {
        assert_eq!(
            (*end, printed.as_str()),
            (End::Exit(3), "ABCDABCDABCDABCDABCD")
        );
    }
    let again = on_tiles(&settings, &firmware, None, run);
    assert_eq!(again, runs[0]);
    assert_eq!(with_snapshot(&settings, &firmware, 9_000_000), runs[0]);
}

#[test]
fn faults_name_a_hart_and_a_memory_of_a_tile() {
    let firmware = program(
        "faulty",
        r#"
            la t0, word
            li t2, 1
        1:  lwu a0, 4(t0)
            bnez a0, end
            j 1b
            .balign 64
        word: .dword 0
        "#,
    );
    let text = |tile: &str, address: u64| {
        format!(
            concat!(
                "[[fault]]\nat = {{ time = \"3 us\" }}\ndo = \"flip-memory\"\n",
                "tile = \"{}\"\naddress = {:#x}\nbits = 0x2a_0000_0000\n",
                "[[fault]]\nat = {{ tile = \"tile1\", hart = 1, cycle = 10 }}\n",
                "do = \"stop-hart\"\ntile = \"tile1\"\nhart = 0\n"
            ),
            tile, address
        )
    };
    on_tiles(&[], &firmware, None, |machine| {
        let word = find_word(&machine.boards()[1]);
        let tiles = [("tile0", 2), ("tile1", 2)];
        let all = faults::parse("f", &text("tile1", word), &tiles).unwrap();
        machine.inject(all).unwrap();
        let (end, _, cycles) = run(machine);
        assert_eq!(end, End::Exit(42));
        // A hart may be 1,000 cycles ahead of the one whose cycle it is.
        assert!(cycles[2] < 1100 && cycles[3] > 2000, "{cycles:?}");
    });
}

/// The address of the word of a program above: the first `auipc t0` and `addi` make it.
fn find_word(board: &Board) -> u64 {
    let mut image = vec![0; 0x2000];
    board.read_memory(0x8000_0000, &mut image).unwrap();
    let words = (0..image.len() - 8).step_by(2).find_map(|at| {
        let word = |at: usize| u32::from_le_bytes(image[at..at + 4].try_into().unwrap());
        let (first, second) = (word(at), word(at + 4));
        let is_address = first & 0xfff == 0x297 && second & 0xf_ffff == 0x2_8293;
        let upper = i64::from((first & 0xffff_f000) as i32);
        let lower = i64::from(second as i32 >> 20);
        is_address.then_some(0x8000_0000 + at as i64 + upper + lower)
    });
    words.unwrap() as u64
}

/// A reset is that of all tiles. Virtual time goes on, by which the program sees that it has happened.
#[test]
fn all_tiles_start_again() {
    let firmware = program(
        "again",
        r#"
            la t0, word
            ld a0, (t0)
            bnez a0, end
            li t1, 1
            sd t1, (t0)
            bnez s2, wait
            beqz s1, wait
            ld t1, NOW(s0)
            li t2, 50000
            li a0, 9
            bgt t1, t2, end
            # Tile 0 has stored by now.
            li t3, 100
        1:  addi t3, t3, -1
            bnez t3, 1b
            li t0, 0x100000
            li t1, 0x7777
            sw t1, (t0)
        wait:
            wfi
            j wait
            .balign 8
        word: .dword 0
        "#,
    );
    on_tiles(&["tile.hart.count=1"], &firmware, None, |machine| {
        machine.restart_at_reset();
        assert_eq!(run(machine).0, End::Exit(9));
    });
}

/// A snapshot looks up anew which hart is next. So a run that goes on from one shows whether the order
/// that the machine keeps is that of the harts, their lines and their timers.
#[test]
fn the_order_of_many_harts_is_that_of_their_times() {
    let firmware = program(
        "wakes",
        r#"
            li t0, 0x88
            csrw mie, t0
            li s4, 0x2000000
            li s6, 0x2004000
            bnez s2, sleeps
            # Hart 0 of each tile wakes the others in turn, and sends the next tile packets.
            li s5, 12
        1:  li s7, 7
        2:  slli t0, s7, 2
            add t0, t0, s4
            li t1, 1
            sw t1, (t0)
            add t2, s7, s1
            slli t2, t2, 4
        3:  addi t2, t2, -1
            bgtz t2, 3b
            addi t0, s1, 1
            andi t0, t0, 3
            sd t0, SEND(s0)
            addi s7, s7, -1
            bnez s7, 2b
            addi s5, s5, -1
            bnez s5, 1b
            li a0, 33
            beqz s1, end
        4:  wfi
            j 4b
            # The others clear what has woken them, and set a timer: some of them beyond the next wake.
        sleeps:
            wfi
            slli t0, s2, 2
            add t0, t0, s4
            sw zero, (t0)
            slli t1, s2, 3
            add t1, t1, s6
            rdtime t2
            add t2, t2, s2
            addi t2, t2, 3
            sd t2, (t1)
            j sleeps
        "#,
    );
    let settings = ["tile.tile.count=4", "tile.hart.count=8"];
    let expected = on_tiles(&settings, &firmware, None, run);
    assert_eq!(expected.0, End::Exit(33));
    for time in (500_000..9_000_000).step_by(470_000) {
        assert_eq!(
            with_snapshot(&settings, &firmware, time),
            expected,
            "{time}"
        );
    }
}

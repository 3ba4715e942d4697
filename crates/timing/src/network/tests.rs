//! Packets on links whose times have a closed form.
use super::*;

const LATENCY: Time = 20_000;
const PERIOD: Time = 2_500;
const WIDTH: u64 = 4;

fn link(topology: Topology, tiles: usize) -> Link {
    Link {
        name: "noc".into(),
        topology,
        tiles: (0..tiles).collect(),
        latency: LATENCY * 1000,
        width: WIDTH,
        period: PERIOD as f64 * FS_PER_PS,
        line: 1,
    }
}

/// Sends packets (time, from, to, bytes), and gives the times at which they arrive.
fn arrivals(network: &mut Network, packets: &[(Time, usize, usize, u64)]) -> Vec<Time> {
    let mut steps: Vec<_> = (0..packets.len())
        .map(|n| {
            let (time, from, to, bytes) = packets[n];
            let way = network.way(from, to).unwrap();
            network.enter(&way, bytes);
            (time, n, way)
        })
        .collect();
    let mut arrived = vec![0; packets.len()];
    while !steps.is_empty() {
        // The first of those of the same time is the one that was there first.
        let at = (0..steps.len())
            .min_by_key(|&at| (steps[at].0, at))
            .unwrap();
        let (time, n, mut way) = steps.remove(at);
        match way.is_over() {
            true => arrived[n] = time,
            false => {
                let time = network.step(&mut way, packets[n].3, time);
                steps.push((time, n, way));
            }
        }
    }
    arrived
}

#[test]
fn an_only_packet_takes_its_hops_and_its_bytes() {
    let shapes = [
        (Topology::PointToPoint, 2),
        (Topology::Crossbar, 5),
        (Topology::Ring, 7),
        (Topology::Mesh(4), 12),
        (Topology::Torus(4), 16),
        (Topology::Torus(5), 15),
    ];
    for (topology, tiles) in shapes {
        let link = link(topology, tiles);
        for (from, to) in (0..tiles).flat_map(|from| (0..tiles).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            for bytes in [1, 4, 1040] {
                let mut network = Network::new(std::slice::from_ref(&link), tiles);
                let took = arrivals(&mut network, &[(7, from, to, bytes)])[0] - 7;
                let expected = link.hops(from, to) * LATENCY + bytes.div_ceil(WIDTH) * PERIOD;
                assert_eq!(took, expected, "{topology:?} {from} {to} {bytes}");
                let (_, counts) = network.counts().next().unwrap();
                let (packets, wait) = (1, 0);
                let expected = LinkCounts {
                    packets,
                    bytes,
                    wait,
                };
                assert_eq!(counts, expected);
            }
        }
    }
}

#[test]
fn packets_wait_for_a_channel_and_for_no_other() {
    // The middle of a row: its packets go right behind each other, those to the left do not wait.
    let mut network = Network::new(&[link(Topology::Mesh(4), 8)], 8);
    let bytes = 400;
    let duration = bytes / WIDTH * PERIOD;
    let packets = [
        (0, 1, 3, bytes),
        (10, 1, 2, bytes),
        (20, 1, 0, bytes),
        // It comes to the channel from 1 to 2 when the second packet has left it.
        (30, 0, 2, bytes),
    ];
    let times = arrivals(&mut network, &packets);
    let expected = [
        2 * LATENCY + duration,
        duration + LATENCY + duration,
        20 + LATENCY + duration,
        2 * duration + LATENCY + duration,
    ];
    assert_eq!(times, expected);
    let (_, counts) = network.counts().next().unwrap();
    let waits = [duration - 10, 2 * duration - LATENCY - 30];
    assert_eq!(counts.wait, waits.iter().sum::<Time>());
    assert_eq!((counts.packets, counts.bytes), (4, 4 * bytes));
}

#[test]
fn the_ports_of_a_crossbar_carry_a_packet_at_a_time() {
    let mut network = Network::new(&[link(Topology::Crossbar, 4)], 4);
    let bytes = 40;
    let duration = bytes / WIDTH * PERIOD;
    // Two senders to one receiver, one sender to two, and another pair.
    let packets = [
        (0, 0, 2, bytes),
        (0, 1, 2, bytes),
        (0, 1, 3, bytes),
        (0, 3, 0, bytes),
    ];
    let one = LATENCY + duration;
    let times = arrivals(&mut network, &packets);
    assert_eq!(times, [one, one + duration, one + duration, one]);
}

#[test]
fn packets_of_one_way_stay_in_their_order() {
    let mut network = Network::new(&[link(Topology::Torus(4), 16)], 16);
    let packets: Vec<_> = (0..60)
        .map(|n| (n * 100, (n % 3) as usize, 10, 1 + n * 37 % 300))
        .collect();
    let times = arrivals(&mut network, &packets);
    for from in 0..3 {
        let own: Vec<_> = times.iter().skip(from).step_by(3).collect();
        assert!(own.is_sorted(), "{own:?}");
    }
}

#[test]
fn tiles_without_a_common_link_have_no_way() {
    let mut second = link(Topology::PointToPoint, 2);
    second.tiles = vec![2, 1];
    let network = Network::new(&[link(Topology::PointToPoint, 2), second], 4);
    let has_way = |from, to| network.way(from, to).is_some();
    assert!(has_way(0, 1) && has_way(1, 2) && has_way(2, 1));
    assert!(!has_way(0, 2) && !has_way(0, 3) && !has_way(0, 9));
}

#[test]
fn a_saved_network_goes_on() {
    let mut network = Network::new(&[link(Topology::Ring, 5)], 5);
    arrivals(&mut network, &[(0, 0, 2, 4000), (5, 0, 1, 40)]);
    let saved = network.save();
    let later = [(9, 0, 1, 40)];
    let expected = arrivals(&mut network, &later);
    let mut other = Network::new(&[link(Topology::Ring, 5)], 5);
    assert!(other.restore(&saved));
    assert_eq!(arrivals(&mut other, &later), expected);
    assert_eq!(other.save(), network.save());
    let mut smaller = Network::new(&[link(Topology::Ring, 4)], 4);
    assert!(!smaller.restore(&saved));
}

/// As those of harts that are ahead of others: what is behind does not wait for them.
#[test]
fn a_packet_does_not_wait_for_later_ones() {
    let mut network = Network::new(&[link(Topology::PointToPoint, 2)], 2);
    let alone = |network: &mut Network, now| {
        let mut way = network.way(0, 1).unwrap();
        network.step(&mut way, 64, now) - now
    };
    let takes = alone(&mut network, 5_000_000_000);
    assert_eq!(alone(&mut network, 1_000_000), takes);
    assert_eq!(alone(&mut network, 1_000_001), takes);
    // One that comes later does, and a state that is restored has no later one.
    assert!(alone(&mut network, 5_000_000_001) > takes);
    let saved = network.save();
    assert!(network.restore(&saved));
    assert!(alone(&mut network, 5_000_000_001) > takes);
}

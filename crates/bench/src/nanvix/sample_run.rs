//! Output of the programs as a machine near the bars would make it, for tests.
use std::fmt::Write as _;

use super::{
    Breakdown, ForkJoin, Results, Samples, Service, Symmetric, Wish, nanvix_cited as cited,
};

/// `slow`: how many times longer everything takes than the bars allow, or less.
pub fn results(slow: f64) -> Results {
    let mut calls = String::from("call,callers,repetition,least,mean,most\n");
    let mut fork_join = String::from("recycling,threads,repetition,fork,join\n");
    let mut noise = String::from("beside,workers,repetition,least,mean,most\n");
    let mut few_banks = noise.clone();
    let mut mailbox = String::from("measure,clusters,repetition,cycles\n");
    for threads in 1..=cited::THREADS {
        let remote = 400.0 * slow * f64::from(threads);
        let _ = writeln!(calls, "local,{threads},0,71,71,71");
        for name in ["remote", "change"] {
            let _ = writeln!(calls, "{name},{threads},0,{remote},{remote},{remote}");
        }
        let ideal = cited::fork_join_ideal(threads) * slow;
        let _ = writeln!(fork_join, "on,{threads},0,{ideal},0");
        let _ = writeln!(fork_join, "off,{threads},0,{ideal},{ideal}");
        for (beside, lost, most) in [
            ("alone", 0, 0),
            ("calls", 10, 20),
            ("changes", 11, 20),
            ("copies", 200, 900),
        ] {
            let line = |lost| format!("{beside},{threads},0,45000,{0},{0}\n", 45000 + lost);
            noise += &line(lost);
            few_banks += &line(most);
        }
        let latency = cited::link_latency(threads) + 450.0 * slow;
        let _ = writeln!(
            mailbox,
            "latency,{threads},0,{latency}\nsenders,{threads},0,600"
        );
    }
    let mut portal = String::from("measure,clusters,repetition,cycles\n");
    for size in [1024, cited::PORTAL_BLOCK] {
        let cycles = cited::link_cycles(size) * 1.05 * slow;
        let _ = writeln!(portal, "stream,{size},0,{cycles}\nsingle,{size},0,{cycles}");
    }
    portal.push_str("block,1,0,17000\ngather,2,0,900\nscatter,2,0,900\n");
    let calls = Samples::calls(&calls).unwrap();
    let fork_join = ForkJoin::parse(&fork_join).unwrap();
    let mut refill = String::from("call,repetition,data,code\n");
    for (call, cycles) in [
        ("none", 500.0),
        ("remote", 500.0),
        ("change", 500.0 + 100.0 * slow),
    ] {
        let _ = writeln!(refill, "{call},0,{cycles},{cycles}");
    }
    let refill = Samples::refill(&refill).unwrap();
    let breakdown = "call,place,part,calls,cycle,sum,mean,median,fetch,load,store,translation,fence,branch,\
                     device,latency,at-banks\n\
                     kernel_nothing,kernel,total,1,2500,1000000,1000000,1000000,,,,,,,,,\n\
                     kernel_nothing,kernel,switch,1,2500,450000,450000,450000,0,0,0,0,0,0,0,0,0\n";
    let breakdown = Breakdown::parse(breakdown).unwrap();
    let noise = Samples::noise(&noise).unwrap();
    let wishes = || {
        vec![Wish {
            name: "coherence",
            calls: calls.clone(),
            fork_join: fork_join.clone(),
        }]
    };
    Results {
        by: "flick 0".into(),
        wishes: wishes(),
        symmetric: Some(Symmetric {
            calls: calls.clone(),
            fork_join: fork_join.clone(),
            noise: noise.clone(),
            refill: refill.clone(),
            wishes: wishes(),
        }),
        calls,
        breakdown: vec![(1, breakdown.clone()), (14, breakdown)],
        fork_join,
        refill,
        noise,
        noise_of_one_bank: Samples::noise(&few_banks).unwrap(),
        service: Service::parse("caller,calls\n0,100\n1,101\n2,99\n").unwrap(),
        boot: 190_000.0 * slow,
        mailbox: Samples::mailbox(&mailbox).unwrap(),
        portal: Samples::mailbox(&portal).unwrap(),
    }
}

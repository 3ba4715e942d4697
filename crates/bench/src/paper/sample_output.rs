//! Output of the programs as a machine like the paper's would make it, for tests.
use super::cited::DATASETS;
use super::{Chase, Graph, Line, Null, Results, Search};

pub const NULL: &str = "call,calls,migrating_us,staying_us\n\
                        host-nxp-host,10000,18.3,0.004\nnxp-host-nxp,10000,16.9,0.004\n";

/// Host accesses of 825 ns; 297 ns a node on the NxP.
pub fn chase(crossing: f64, pause: f64) -> String {
    let mut text = String::from("interval_us,nodes,calls,migrating_us,staying_us\n");
    for nodes in (4..=1024).step_by(4) {
        let migrating = crossing + f64::from(nodes) * 0.297 + pause;
        let staying = f64::from(nodes) * 0.825 + pause;
        text += &format!("{pause},{nodes},32,{migrating:.6},{staying:.6}\n");
    }
    text
}

pub fn parsed(crossing: f64, pause: f64) -> Chase {
    Chase::parse(&chase(crossing, pause)).unwrap()
}

pub fn search(name: &str, migrating: f64, staying: f64) -> String {
    assert_eq!(name, "pokec");
    format!(
        "# graph synthetic\n# vertices 1632803\n# edges 30622564\n# entries 61245128\n\
         # degree_mean 37.51\n# degree_p10 10\n# degree_p50 19\n# degree_p90 57\n# degree_p99 317\n\
         # degree_max 16044\n# source 5\niteration,reached,migrating_s,staying_s\n\
         1,1632803,{migrating},{staying}\n2,1632803,{migrating},{staying}\n"
    )
}

pub fn results() -> Results {
    let line = |label: &str, crossing| Line {
        label: label.into(),
        chases: [parsed(crossing, 0.0), parsed(crossing, 100.0)],
    };
    let search = |migrating| Search::parse(&search("pokec", migrating, 107.8)).unwrap();
    Results {
        by: "flick 0".into(),
        null: Null::parse(NULL).unwrap(),
        lines: vec![
            line("Flick", 18.3),
            line("500 µs", 500.0),
            line("1 ms", 1000.0),
        ],
        graphs: vec![Graph {
            dataset: &DATASETS[1],
            uncalibrated: search(98.0),
            fitted: Some(search(90.4)),
        }],
    }
}

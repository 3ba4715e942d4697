//! Data transfer units (`docs/dtu.md`), several of them with a network between them.

mod commands;
mod data;
mod faulty_links;
#[path = "../common/links.rs"]
mod links;
mod lossy_links;
mod model_properties;
mod model_state;
mod network;
mod page_model;
mod page_state;
mod paged_network;
mod pages;
mod promises;
mod protocol_model;
mod random_accesses;
mod random_world;
mod root;
mod switches;

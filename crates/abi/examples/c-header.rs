//! Prints `pass/flick_abi.h`.
fn main() {
    let mut text = String::new();
    flick_abi::header::c_header(&mut text).expect("writing to a String cannot fail");
    print!("{text}");
}

//! A program that says a word: the least that a Rust program with a `main` costs.

fn main() {
    println!("hello");
}

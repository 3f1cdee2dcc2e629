//! `schema.graphql` is what the binary prints; regenerate it with `threadline schema`.

#[test]
fn schema_graphql_is_what_the_binary_prints() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/schema.graphql");
    let written = std::fs::read_to_string(path).unwrap_or_default();
    let printed = threadline::api::graphql::sdl();
    if written != printed {
        let hint = "run `cargo run -- schema > schema.graphql`";
        let line = written
            .lines()
            .zip(printed.lines())
            .position(|(a, b)| a != b)
            .unwrap_or(0)
            + 1;
        panic!("schema.graphql differs from the schema at line {line}; {hint}");
    }
}

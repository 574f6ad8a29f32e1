//! The generated Verilog against the list in `golden/verilog.txt`: a change that means to change no circuit changes no
//! byte. Caught so far: nothing; a circuit that is changed on purpose comes with `scripts/list-verilog > tests/golden/verilog.txt`.

#[path = "../examples/verilog_hashes.rs"]
mod verilog_hashes;

#[test]
fn verilog_is_as_it_was() {
    let (kept, found) = (include_str!("../golden/verilog.txt"), verilog_hashes::list());
    for (kept, found) in kept.lines().zip(found.lines()) {
        assert_eq!(kept, found, "scripts/list-verilog lists all; meant? then keep its list");
    }
    assert_eq!(kept.lines().count(), found.lines().count());
}

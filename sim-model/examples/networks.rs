//! Which networks of springs and dampers return, keep, or do both: the page docs/networks.md.
//!
//!   cargo run -p nendo-model --example networks > docs/networks.md

use nendo_model::force::law::network::{Chain, Class, Network};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
};

/// The most parts of a network.
const MOST: usize = 4;

fn residual(network: &Network) -> bool {
    network.class() != Class::Elastic
}

fn bouncing(network: &Network) -> bool {
    network.class() != Class::Viscoplastic
}

/// One of the tables by which K03 infers a property of a network from that of its two halves; here every pair of
/// networks is looked at instead.
fn inferred(
    name: &str,
    has: fn(&Network) -> bool,
    joined: &str,
    join: fn(Network, Network) -> Network,
) -> String {
    let mut cells: BTreeMap<(bool, bool), (BTreeSet<bool>, usize)> = BTreeMap::new();
    for (n, m) in (1..MOST).flat_map(|n| (1..=MOST - n).map(move |m| (n, m))) {
        for (a, b) in Network::all(n).iter().flat_map(|a| Network::all(m).into_iter().map(move |b| (a, b))) {
            let cell = cells.entry((has(a), has(&b))).or_default();
            cell.0.insert(has(&join(a.clone(), b)));
            cell.1 += 1;
        }
    }
    let word = |yes| if yes { name.to_owned() } else { format!("non-{name}") };
    let mut table = format!("| {joined} | {} | {} |\n|---|---|---|\n", word(true), word(false));
    for row in [true, false] {
        let cell = |column| {
            let (found, pairs) = &cells[&(row, column)];
            let found: Vec<String> = found.iter().map(|&yes| word(yes)).collect();
            format!("{} ({pairs})", found.join(" or "))
        };
        let _ = writeln!(table, "| {} | {} | {} |", word(row), cell(true), cell(false));
    }
    table
}

/// How many networks of each class: all, and those without like parts together.
fn counts() -> String {
    let mut table = "| parts | networks | elastic | viscoplastic | rheological | and settle | \
        reduced | elastic | viscoplastic | rheological | and settle |\n|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for n in 1..=MOST {
        let all = Network::all(n);
        let reduced = all.iter().filter(|network| network.reduced() == **network).cloned().collect();
        let _ = write!(table, "| {n} |");
        for set in [&all, &reduced] {
            let of = |class| set.iter().filter(|network| network.class() == class).count();
            let [elastic, viscoplastic, rheological] = Class::ALL.map(of);
            let settle = set.iter().filter(|n| n.class() == Class::Rheological && n.settles()).count();
            let _ = write!(table, " {} | {elastic} | {viscoplastic} | {rheological} | {settle} |", set.len());
        }
        table.push('\n');
    }
    table
}

/// The chains all of them come down to.
fn chains() -> String {
    let mut found: BTreeMap<(usize, Class, Chain), Vec<Network>> = BTreeMap::new();
    for network in (1..=MOST).flat_map(Network::all) {
        let chain = network.chain();
        found.entry((chain.parts(), chain.class(), chain)).or_default().push(network);
    }
    let mut table =
        "| chain | class | networks | reduced ones, chain first | law |\n|---|---|---|---|---|\n".to_owned();
    for ((_, class, chain), networks) in found {
        let law = chain.law().map_or_else(|| "-".to_owned(), |law| format!("`{law}`"));
        let (name, count) = (chain.to_string(), networks.len());
        let mut reduced: Vec<String> =
            networks.into_iter().filter(|n| n.reduced() == *n).map(|n| n.to_string()).collect();
        reduced.sort_by_key(|network| *network != name);
        let reduced: Vec<String> =
            reduced.iter().map(|network| format!("`{}`", network.replace('|', "\\|"))).collect();
        let name = name.replace('|', "\\|");
        let _ = writeln!(table, "| `{name}` | {} | {count} | {} | {law} |", class.name(), reduced.join(", "));
    }
    table
}

/// A network as lines of text of one length; its ends are on the first line.
fn drawing(network: &Network) -> Vec<String> {
    match network {
        Network::Spring => vec!["[k]".to_owned()],
        Network::Damper => vec!["[c]".to_owned()],
        Network::Series(group) => {
            let blocks: Vec<Vec<String>> = group.iter().map(drawing).collect();
            let lines = blocks.iter().map(Vec::len).max().unwrap_or(0);
            let line = |at: usize| {
                let part = |b: &Vec<String>| b.get(at).cloned().unwrap_or_else(|| " ".repeat(b[0].len()));
                blocks.iter().map(part).collect::<Vec<_>>().join(if at == 0 { "-" } else { " " })
            };
            (0..lines).map(line).collect()
        }
        Network::Parallel(group) => {
            let blocks: Vec<Vec<String>> = group.iter().map(drawing).collect();
            let width = blocks.iter().map(|b| b[0].len()).max().unwrap_or(0);
            let mut lines = Vec::new();
            for (n, block) in blocks.iter().enumerate() {
                for (at, line) in block.iter().enumerate() {
                    let bar = if n + 1 < blocks.len() { '|' } else { ' ' };
                    lines.push(match at {
                        0 => format!("+-{line:-<width$}-+"),
                        _ => format!("{bar} {line:<width$} {bar}"),
                    });
                }
            }
            lines
        }
    }
}

/// The rheological networks that settle with the fewest parts, chains first.
fn smallest() -> Vec<Network> {
    let meets = |network: &Network| network.class() == Class::Rheological && network.settles();
    let sizes = (1..=MOST).map(|n| Network::all(n).into_iter().filter(meets).collect());
    let mut found: Vec<Network> =
        sizes.into_iter().find(|s: &Vec<Network>| !s.is_empty()).unwrap_or_default();
    found.sort_by_key(|network| network.to_string() != network.chain().to_string());
    found
}

fn drawings(networks: &[Network]) -> String {
    let mut page = Vec::new();
    for network in networks {
        let mut lines = drawing(network);
        lines[0] = format!("o-{}-o    {network}", lines[0]);
        lines[1..].iter_mut().for_each(|line| *line = format!("  {line}").trim_end().to_owned());
        page.push(lines.join("\n"));
    }
    page.join("\n\n")
}

/// The page.
pub(crate) fn page() -> String {
    let total: usize = (1..=MOST).map(|n| Network::all(n).len()).sum();
    let smallest = smallest();
    let fewest = smallest.first().map_or(0, Network::parts);
    format!(
        "\
# Which element

Why three elements, and why these? [K03] section 3.1 chooses the element of a rheological object among all networks of
springs (k) and dampers (c) in series (`-`) and in parallel (`|`). Here are all {total} with up to {MOST} parts, each classified by
a closed form. `cargo run -p nendo-model --example networks` prints this page.

Networks are the same if they differ in order or brackets only: `c-k` is `k-c`. A *reduced* one has no two springs and no
two dampers side by side or one after the other, which would be one spring, one damper.

In the rate operator s, a spring is the stiffness k, a damper c s; stiffnesses add in parallel, compliances in series. The
compliance of a network is then a sum of partial fractions with positive coefficients,

```text
J(s) = 1/K + 1/(C s) + 1/(k1 + c1 s) + 1/(k2 + c2 s) + ...
```

a chain of a spring, a damper and Voigt parts, of which some are missing. After a force F was held for a time T, long against
all c/k, and taken away, F T/C stays (*residual*) and F (1/K + 1/k1 + 1/k2 + ...) returns (*bouncing*). What only returns is
elastic ([K03]: viscoelastic), what only stays viscoplastic ([K03]: plastic), what does both rheological.

## Tables 1 and 2 of [K03]

What a network of two halves does, from what the halves do. All pairs with up to {MOST} parts together were looked at, in both
orders; their number is in brackets. No cell has two answers, and all are those of the paper.

{}
{}
{}
{}
So a network bounces if there is a spring in it, and keeps a residual unless springs alone lead from end to end.

## How many

A network *settles* if each of its parts in series has a damper, the paper's third condition: no part then swings for ever,
not even alone.

{}
## What they come down to

All of them answer as one of these chains, which have as many parts as the answer has independent coefficients. Laws are
those of [scene files](scenes.md); a spring in series with a Voigt part has none.

{}
## The smallest

Rheological, settling, and of as few parts as possible, {fewest}:

```text
{}
```

The first is the paper's three-element model, Fig. 2-(a), and nendo's `three-element`. The other is the same element with
other coefficients: k1, c1 in series with c2 answers as C beside K in series with D, where C = c1 c2/(c1 + c2),
D = c2^2/(c1 + c2), K = k1 c2^2/(c1 + c2)^2.

`k-c` is smaller and rheological, too, but
its spring has no damper of its own; as a whole, between two masses, it comes to rest all the same.

Tests press every network and let it go, step by step in time, without polynomials; count networks by generating functions;
and press the laws themselves (`sim-model/tests/networks.rs`). [K03] is in the [references](references.md).
",
        inferred("residual", residual, "series", Network::then),
        inferred("residual", residual, "parallel", Network::beside),
        inferred("bouncing", bouncing, "series", Network::then),
        inferred("bouncing", bouncing, "parallel", Network::beside),
        counts(),
        chains(),
        drawings(&smallest),
    )
}

// The test of the page has this file as a module.
#[allow(dead_code)]
fn main() {
    print!("{}", page());
}

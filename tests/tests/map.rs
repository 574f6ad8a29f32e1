//! The map's Markdown, JSON and C header say the same, and the hardware does what they say.

use nendo_hdl::{design::Design, sim::verilated::SimOptions};
use nendo_host::device::{Device, rtl::Rtl};
use nendo_model::contract::{
    config::Config,
    numbers::{Inverse, Profile},
};
use serde_json::Value;
use std::collections::BTreeMap;

const CONFIG: Config = Config::minimal(Profile::Wide, Inverse::Table);

fn file(ending: &str) -> String {
    let files = Design::new(&CONFIG).files();
    files.into_iter().find(|(name, _)| name.ends_with(ending)).unwrap_or_else(|| panic!("no {ending}")).1
}

/// The header's numbers by name.
fn header() -> BTreeMap<String, u64> {
    let number = |text: &str| {
        let digits = text.trim_end_matches(['u', 'l']);
        match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => digits.parse().ok(),
        }
    };
    let text = file(".h");
    let defines = text.lines().filter_map(|line| line.strip_prefix("#define NENDO_")?.split_once(' '));
    let mut found = BTreeMap::new();
    for (name, value) in defines.filter_map(|(name, value)| Some((name.to_owned(), number(value)?))) {
        assert_eq!(found.insert(name.clone(), value), None, "{name} twice");
    }
    found
}

fn json() -> Value {
    serde_json::from_str(&file("map.json")).unwrap()
}

/// The Markdown's tables, as cells: registers and windows, and their fields.
fn markdown() -> [Vec<Vec<String>>; 2] {
    let text = file(".md");
    let (map, fields) = text.split_once("| of | field |").unwrap();
    let cells = |l: &str| l.split('|').map(|c| c.trim().to_owned()).filter(|c| !c.is_empty()).collect();
    let rows = |text: &str, begin: &str| text.lines().filter(|l| l.starts_with(begin)).map(cells).collect();
    [rows(map, "| 0x"), rows(fields, "| ")]
}

/// A name as C writes it.
fn upper(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

/// The header's names of a field, which say what JSON says: how many there are.
fn in_header(header: &BTreeMap<String, u64>, name: &str, f: &Value) -> usize {
    let number = |key: &str| f[key].as_u64().unwrap();
    let defined = ["LOW", "BITS"].map(|k| header[&format!("{name}_{k}")]);
    assert_eq!(defined, [number("low"), number("bits")], "{name}");
    let list = |key: &str| f[key].as_array().cloned().unwrap_or_default();
    let (values, parts) = (list("values"), list("parts"));
    for (code, value) in (0..).zip(&values) {
        assert_eq!(header[&format!("{name}_{}", upper(value.as_str().unwrap()))], code, "{name}");
    }
    let of_part = |p: &Value| in_header(header, &format!("{name}_{}", upper(p["name"].as_str().unwrap())), p);
    2 + values.len() + parts.iter().map(of_part).sum::<usize>()
}

/// The Markdown's row of a field says what JSON says.
fn in_markdown(row: &[String], of: &str, f: &Value) {
    let (low, bits) = (f["low"].as_u64().unwrap(), f["bits"].as_u64().unwrap());
    let expected =
        [of, f["name"].as_str().unwrap(), &f["word"].to_string(), &format!("{}..{low}", low + bits - 1)];
    assert_eq!(row[..4], expected);
    assert!(row[4].starts_with(f["doc"].as_str().unwrap().trim_end_matches('.')), "{row:?}");
    let names = f["values"].as_array().into_iter().flatten().map(|v| v.as_str().unwrap());
    let parts = f["parts"].as_array().into_iter().flatten().map(|p| p["name"].as_str().unwrap());
    names.chain(parts).for_each(|name| assert!(row[4].contains(name), "{row:?}: {name}"));
}

#[test]
fn three_texts_one_map() {
    let (header, json, [markdown, fields]) = (header(), json(), markdown());
    let (c, page) = (file(".h"), file(".md"));
    let mut fields = fields.iter();
    let registers = json["registers"].as_array().unwrap();
    let windows = json["windows"].as_array().unwrap();
    assert!(registers.len() > 25 && windows.len() > 8);
    assert_eq!(markdown.len(), registers.len() + windows.len());
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).unwrap();
    let row = |name: &str| markdown.iter().find(|r| r[1] == name).unwrap_or_else(|| panic!("{name}"));
    let mut names = 0;
    for r in registers {
        let (name, address, bits) = (r["name"].as_str().unwrap(), r["address"].as_u64().unwrap(), &r["bits"]);
        let upper = self::upper(name);
        assert_eq!(header[&upper], address, "{name}");
        assert_eq!(Some(header[&format!("{upper}_BITS")]), bits.as_u64(), "{name}");
        assert_eq!((hex(&row(name)[0]), &row(name)[2]), (address, &bits.to_string()), "{name}");
        let kind = match r["access"]["kind"].as_str().unwrap() {
            "constant" => "constant",
            "read-only" => "RO",
            "read-write" => "RW",
            "command" => "command",
            "write-one-to-clear" => "W1C",
            other => panic!("{other}"),
        };
        assert_eq!(row(name)[3], kind, "{name}");
        let when = r["when"].as_str().unwrap();
        assert_eq!(row(name)[4], when, "{name}");
        assert!(c.contains(&format!("({kind}, {when}) */\n#define NENDO_{upper} ")), "{name}");
        names += 2;
        if let Some(value) = r["access"]["value"].as_u64() {
            assert_eq!(header[&format!("{upper}_VALUE")], value, "{name}");
            assert!(row(name)[5].contains(&format!("{value:#010x}")), "{name}");
            names += 1;
        }
        for f in r["fields"].as_array().unwrap() {
            let field = format!("{upper}_{}", self::upper(f["name"].as_str().unwrap()));
            let (low, bits) = (f["low"].as_u64().unwrap(), f["bits"].as_u64().unwrap());
            assert_eq!(header[&field], ((1 << bits) - 1) << low, "{field}");
            names += 1 + in_header(&header, &field, f);
            in_markdown(fields.next().unwrap(), name, f);
        }
    }
    for w in windows {
        let (name, number) = (w["name"].as_str().unwrap(), |key: &str| w[key].as_u64().unwrap());
        let upper = self::upper(name);
        assert_eq!(header[&format!("{upper}_BASE")], number("base"), "{name}");
        assert_eq!(header[&format!("{upper}_ITEMS")], number("items"), "{name}");
        let found = (hex(&row(name)[0]), row(name)[2].clone(), row(name)[3].clone());
        assert_eq!(
            found,
            (number("base"), number("items").to_string(), number("stride").to_string()),
            "{name}"
        );
        names += 2;
        for f in w["fields"].as_array().unwrap() {
            let field = f["name"].as_str().unwrap();
            let part = |key: &str| f[key].as_u64().unwrap();
            let (low, bits) = (part("low"), part("bits"));
            let defined = format!("{upper}_{}", field.to_uppercase());
            assert_eq!(header[&format!("{defined}_WORD")], part("word"), "{name} {field}");
            let shown = format!("{field} ({}: {}..{low}", part("word"), low + bits - 1);
            assert!(row(name)[6].contains(&shown), "{name}: {shown}");
            names += 1 + in_header(&header, &defined, f);
            in_markdown(fields.next().unwrap(), name, f);
        }
    }
    assert_eq!(fields.next(), None);
    // What holds for all of them.
    let rules = json["rules"].as_array().unwrap();
    assert!(rules.len() > 3);
    for rule in rules.iter().map(|rule| rule.as_str().unwrap()) {
        assert!(c.contains(&format!("\n * {rule}\n")), "{rule}");
        assert!(page.contains(&format!("\n- {rule}\n")), "{rule}");
    }
    // The size, the modules and the hash are left: the header has nothing that the others lack.
    assert_eq!(header.len(), names + 4);
    let modules = [&json["config"]["modules"], &json["module_span"]].map(|n| n.as_u64().unwrap());
    assert_eq!([header["MODULES"], header["MODULE_SPAN"]], modules);
    assert!(page.contains(&format!("in module m is {:#x} m further", modules[1])));
    assert_eq!((header["MAP_SIZE"], header["CONFIG_HASH"]), (json["size"].as_u64().unwrap(), CONFIG.hash()));
}

/// Bit by bit, by the C header's own addresses: constants read as they say, registers keep the bits they have,
/// fields of windows are where they are said to be.
#[test]
fn the_hardware_is_what_the_header_says() {
    let (header, json) = (header(), json());
    let mut device = Rtl::new(&CONFIG, SimOptions::default()).unwrap();
    let at = |name: &str| header[&name.to_uppercase()] as u32;
    for r in json["registers"].as_array().unwrap() {
        let name = r["name"].as_str().unwrap();
        let mask = (u64::MAX >> (64 - header[&format!("{}_BITS", name.to_uppercase())])) as u32;
        let value = device.read(at(name)).unwrap();
        assert_eq!(value & !mask, 0, "{name}");
        match r["access"]["kind"].as_str().unwrap() {
            "constant" => {
                assert_eq!(u64::from(value), header[&format!("{}_VALUE", name.to_uppercase())], "{name}");
                assert!(device.write(at(name), 0).is_err(), "{name}");
            }
            "read-write" => {
                for word in (0..32).map(|bit| 1u32 << bit).chain([u32::MAX, 0]) {
                    device.write(at(name), word).unwrap();
                    assert_eq!(device.read(at(name)).unwrap(), word & mask, "{name}");
                }
            }
            "command" => {
                // Each bit by the header's own name and seal; without it, it is half a command.
                for f in r["fields"].as_array().unwrap() {
                    let mask = header[&format!("COMMAND_{}", upper(f["name"].as_str().unwrap()))] as u32;
                    assert!(device.write(at(name), mask).is_err(), "half a command");
                    device.write(at(name), (!mask & 0xffff) << 16 | mask).unwrap();
                    device.pause(10_000);
                }
            }
            "write-one-to-clear" => device.write(at(name), u32::MAX).unwrap(),
            _ => assert!(device.write(at(name), 0).is_err(), "{name}"),
        }
    }
    for w in json["windows"].as_array().unwrap().iter().filter(|w| w["way"] == "read-write") {
        let upper = w["name"].as_str().unwrap().to_uppercase();
        let base = header[&format!("{upper}_BASE")] as u32;
        let fields = w["fields"].as_array().unwrap();
        let words = 1 + fields.iter().map(|f| f["word"].as_u64().unwrap()).max().unwrap() as u32;
        for (k, f) in fields.iter().enumerate() {
            let field = f["name"].as_str().unwrap().to_uppercase();
            let [word, low, bits] =
                ["WORD", "LOW", "BITS"].map(|p| header[&format!("{upper}_{field}_{p}")] as u32);
            for bit in 0..bits {
                for number in 0..words {
                    let value = if number == word { 1 << (low + bit) } else { 0 };
                    device.write(base + 4 * number, value).unwrap();
                }
                for number in 0..words {
                    let read = device.read(base + 4 * number).unwrap();
                    let mask = (((1u64 << bits) - 1) as u32) << low;
                    let expected = if number == word { 1 << (low + bit) } else { 0 };
                    // A negative number fills the rest of a word it has for itself.
                    let read = if number == word { read & mask } else { read };
                    assert_eq!(read, expected, "{upper} field {k} bit {bit}");
                }
            }
        }
    }
    // One word behind every window, and between registers, there is nothing.
    for w in json["windows"].as_array().unwrap() {
        let number = |key: &str| w[key].as_u64().unwrap() as u32;
        let end = number("base") + 4 * number("items") * number("stride");
        let taken = json["windows"].as_array().unwrap().iter().any(|o| o["base"] == end);
        if !taken && end < header["MAP_SIZE"] as u32 {
            assert!(device.read(end).is_err() && device.write(end, 0).is_err(), "{}", w["name"]);
        }
    }
    assert!(device.read(0x3c).is_err() && device.write(0x3c, 0).is_err());
}

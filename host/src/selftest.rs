//! Is this board sound? A march through its memories, then a known answer.

use crate::{
    board::{Board, BoardError},
    device::Device,
    engine::{BoardEngine, Engine, EngineError},
};
use nendo_model::{
    contract::{
        image::{Image, ImageError},
        map::{Direction, Reg, WindowName},
        words::{self, Display, Field, Force, Item, Position},
    },
    scene::{Scene, SceneError},
    twin::engine::Model,
};
use serde::Serialize;

/// The scene of the known answer, and its steps.
const SCENE: &str = "box:4x4x4";
const STEPS: u64 = 100;

/// What a test found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelftestReport {
    /// Words written to memories and read back.
    pub words: u64,
    /// The first that was wrong.
    pub first_wrong: Option<WrongWord>,
    /// How many were wrong.
    pub wrong: u64,
    /// What the board computed.
    pub state_digest: String,
    /// What the model computed.
    pub expected_digest: String,
    /// Transfers that had to be repeated.
    pub retries: u64,
    /// Clocks of the computed steps.
    pub cycles: u64,
}

impl SelftestReport {
    /// Whether the board is sound.
    pub fn passed(&self) -> bool {
        self.wrong == 0 && self.state_digest == self.expected_digest
    }
}

/// A word that was not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrongWord {
    /// The window.
    pub window: &'static str,
    /// The item, counted through all modules.
    pub item: u32,
    /// The part of it.
    pub field: &'static str,
    /// What was written.
    pub written: i64,
    /// What was read.
    pub read: i64,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum SelftestError {
    /// The board does not work well enough to be tested.
    #[error(transparent)]
    Board(#[from] BoardError),
    /// The known scene does not fit the profile.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The known scene cannot be made.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// Tests a board. What was loaded is lost.
pub fn selftest<D: Device>(mut board: Board<D>) -> Result<(SelftestReport, Board<D>), SelftestError> {
    board.halt_and_clear()?;
    let mut report = SelftestReport {
        words: 0,
        first_wrong: None,
        wrong: 0,
        state_digest: String::new(),
        expected_digest: String::new(),
        retries: 0,
        cycles: 0,
    };
    for bit in 0..32 {
        board.set_registers(&[(Reg::Scratch, 1 << bit)])?;
        report.words += 1;
        let read = board.register(Reg::Scratch)?;
        if read != 1 << bit {
            let wrong =
                WrongWord { window: "scratch", item: 0, field: "", written: 1 << bit, read: read.into() };
            report.found(wrong);
        }
    }
    let both_ways: Vec<WindowName> =
        board.map.windows.iter().filter(|w| w.direction == Direction::ReadWrite).map(|w| w.name).collect();
    for window in both_ways {
        march(&mut board, window, &mut report)?;
    }
    look(&mut board, &mut report)?;
    // The known answer is computed in memories that still hold the march.
    let scene = Scene::open(SCENE)?;
    let config = *board.config();
    let image = Image::new(&scene, config.profile, config.inverse)?;
    let mut model = Model::new(image.clone(), 1);
    model.advance(STEPS);
    report.expected_digest = model.state_digest();
    let mut engine = BoardEngine::new(board, image, None)?;
    engine.run(STEPS)?;
    report.state_digest = engine.state_digest()?;
    report.cycles = engine.cycles();
    let board = engine.into_board();
    report.retries = board.retries();
    Ok((report, board))
}

impl SelftestReport {
    fn found(&mut self, wrong: WrongWord) {
        self.wrong += 1;
        self.first_wrong.get_or_insert(wrong);
    }

    /// Field by field what was written to an item and what was read.
    fn compare(&mut self, window: WindowName, fields: &[Field], item: u32, written: &[i64], read: &[i64]) {
        for (field, (&written, &read)) in fields.iter().zip(written.iter().zip(read)) {
            self.words += 1;
            if read != written {
                self.found(WrongWord { window: window.name(), item, field: field.name, written, read });
            }
        }
    }
}

/// Every bit of every item once as one and once as zero, with a pattern that tells items apart.
fn march<D: Device>(
    board: &mut Board<D>,
    window: WindowName,
    report: &mut SelftestReport,
) -> Result<(), BoardError> {
    let w = board.map.window(window).clone();
    for invert in [0, -1] {
        // A different pattern in every item and field.
        let mixed =
            |item: u32, field: i64| (i64::from(item) + 1).wrapping_mul(0x9e37_79b9 + 2 * field) ^ invert;
        let numbers = |item: u32| -> Vec<i64> {
            w.fields.iter().zip(0..).map(|(f, field)| f.keep(mixed(item, field))).collect()
        };
        let words = |item: u32| words::pack(&w.fields, &numbers(item));
        for module in 0..w.modules {
            let items: Vec<Vec<u32>> = (0..w.items).map(|k| words(module * w.items + k)).collect();
            board.store_words(window, (module, 0), &items)?;
        }
        let mut found = Vec::new();
        for module in 0..w.modules {
            found.extend(board.fetch_words(window, module, w.items)?);
        }
        for (item, read) in (0..).zip(found) {
            report.compare(window, &w.fields, item, &numbers(item), &words::unpack(&w.fields, &read));
        }
    }
    Ok(())
}

/// The memories that only the engine writes: the display shows what positions were loaded, forces are cleared.
fn look<D: Device>(board: &mut Board<D>, report: &mut SelftestReport) -> Result<(), BoardError> {
    let (items, modules) = (board.map.window(Position::WINDOW).items, board.map.config.modules as u32);
    let x = board.map.config.profile.numbers().x;
    for module in 0..modules {
        let shown =
            |stored: Position| Display::from(<[i32; 3]>::from(stored).map(|c| x.operand(c.into()) as i32));
        let expected: Vec<Display> = board.fetch(module, items)?.into_iter().map(shown).collect();
        compare_items(board, report, module, &expected)?;
        compare_items(board, report, module, &vec![Force::default(); items as usize])?;
    }
    Ok(())
}

/// A module's first items, and what they should be.
fn compare_items<D: Device, I: Item>(
    board: &mut Board<D>,
    report: &mut SelftestReport,
    module: u32,
    expected: &[I],
) -> Result<(), BoardError> {
    let found: Vec<I> = board.fetch(module, expected.len() as u32)?;
    let window = board.map.window(I::WINDOW);
    for (item, (expected, found)) in (module * window.items..).zip(expected.iter().zip(found)) {
        report.compare(I::WINDOW, &window.fields, item, &expected.numbers(), &found.numbers());
    }
    Ok(())
}

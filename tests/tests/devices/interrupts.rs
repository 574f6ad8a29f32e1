//! The interrupt, and runs that are waited for by it.

use super::{MINIMAL, on_every_device, press};
use nendo_host::{
    board::{Board, BoardError, Completion},
    device::{Device, DeviceError, Waited, model::ModelDevice},
    engine::{BoardEngine, Engine},
};
use nendo_model::{
    contract::{
        map::Reg,
        numbers::{Inverse, Profile},
    },
    twin::engine::Model,
};

#[test]
fn the_interrupt_is_a_level_until_it_is_acknowledged() {
    let image = press(Profile::Wide, Inverse::Table);
    on_every_device(&MINIMAL, |device| {
        let asserted = |device: &mut dyn Device| device.wait_interrupt(0).unwrap() == Waited::Came;
        let (interrupt, enable) = (Reg::Interrupt.address(), Reg::InterruptEnable.address());
        let mut board = Board::open(&mut *device).unwrap();
        board.load(&image).unwrap();
        board.run(3).unwrap();
        // It has ended, but nobody has asked for interrupts.
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (1, 0));
        assert!(!asserted(device));
        device.write(enable, 1).unwrap();
        assert!(asserted(device) && asserted(device));
        device.write(interrupt, 0).unwrap();
        assert!(asserted(device));
        device.write(interrupt, 1).unwrap();
        assert!(!asserted(device));
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (0, 1));
        // A reset is no end of a run, and switches it off.
        Board::open(&mut *device).unwrap().start(0).unwrap();
        assert_eq!(device.wait_interrupt(20_000).unwrap(), Waited::TimedOut);
        device.reset().unwrap();
        assert_eq!((device.read(interrupt).unwrap(), device.read(enable).unwrap()), (0, 0));
        assert!(!asserted(device));
    });
}

#[test]
fn runs_are_waited_for_by_interrupt() {
    let image = press(Profile::Wide, Inverse::Table);
    let mut model = Model::new(image.clone(), 1);
    model.advance(30);
    let digest = on_every_device(&MINIMAL, |device| {
        let mut board = Board::open(device).unwrap();
        board.set_completion(Completion::Interrupt).unwrap();
        // An interrupt that is left from before is no end of the next run.
        board.load(&image).unwrap();
        board.start(1).unwrap();
        board.device().pause(10_000);
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(10).unwrap();
        // Nor is one missed that an idle engine does not give.
        engine.board().stop().unwrap();
        let mut board = engine.into_board().reopen().unwrap();
        assert_eq!(board.completion(), Completion::Interrupt);
        let mut engine = BoardEngine::new(board, image.clone(), None).unwrap();
        engine.run(29).unwrap();
        engine.begin_step().unwrap();
        engine.finish_step().unwrap();
        let digest = engine.state_digest().unwrap();
        board = engine.into_board();
        board.set_completion(Completion::Poll).unwrap();
        assert_eq!(board.device().read(Reg::InterruptEnable.address()).unwrap(), 0);
        digest
    });
    assert_eq!(digest, model.state_digest());
}

/// A device whose interrupt is always answered for it.
struct Answered(ModelDevice, Waited);

impl Device for Answered {
    fn read(&mut self, address: u32) -> Result<u32, DeviceError> {
        self.0.read(address)
    }
    fn write(&mut self, address: u32, value: u32) -> Result<(), DeviceError> {
        self.0.write(address, value)
    }
    fn pause(&mut self, clocks: u64) {
        self.0.pause(clocks);
    }
    fn wait_interrupt(&mut self, clocks: u64) -> Result<Waited, DeviceError> {
        if self.1 == Waited::TimedOut {
            self.0.pause(clocks);
        }
        Ok(self.1)
    }
    fn reset(&mut self) -> Result<(), DeviceError> {
        self.0.reset()
    }
    fn name(&self) -> String {
        "answered".to_owned()
    }
}

/// No interrupt, a lost one, and too many of them: an error that says what to do, or the right end; never a hang.
#[test]
fn interrupts_that_are_not_what_they_should_be() {
    let image = press(Profile::Wide, Inverse::Table);
    let board = |waited| {
        let mut board = Board::open(Answered(ModelDevice::new(&MINIMAL, 1), waited)).unwrap();
        board.set_completion(Completion::Interrupt).map(|()| {
            board.load(&image).unwrap();
            board
        })
    };
    let none = board(Waited::Unsupported).err().unwrap().to_string();
    assert!(none.contains("no interrupt") && none.contains("--completion poll"), "{none}");
    let lost = board(Waited::TimedOut).unwrap().run(3).unwrap_err();
    assert!(matches!(lost, BoardError::LostInterrupt { .. }), "{lost}");
    assert!(lost.to_string().contains("--completion poll"), "{lost}");
    // It asks again and again, and the engine does end.
    board(Waited::Came).unwrap().run(3).unwrap();
    // An engine that does not: no more patience than with polling.
    let mut endless = board(Waited::Came).unwrap();
    endless.start(0).unwrap();
    assert!(matches!(endless.finish(), Err(BoardError::Busy { .. })));
}

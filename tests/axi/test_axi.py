"""The engine's AXI4-Lite slave against an independent master (cocotbext-axi), with stalls on every channel.

What is expected comes from the map's JSON alone. Run by scripts/test-axi.
"""

import itertools
import json
import os
import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

with open(os.environ["NENDO_MAP"]) as file:
    MAP = json.load(file)
REGISTERS = MAP["registers"]
BY_NAME = {r["name"]: r for r in REGISTERS}
WINDOWS = {w["name"]: w for w in MAP["windows"]}
SEED = int(os.environ.get("NENDO_SEED") or random.randrange(1 << 32))


def stalls(rng, share):
    """True where a channel pauses."""
    return (rng.random() < share for _ in itertools.count())


async def power_on(dut):
    cocotb.start_soon(Clock(dut.clock, 10, unit="ns").start())
    dut.reset_n.value = 0
    await ClockCycles(dut.clock, 5)
    dut.reset_n.value = 1
    await ClockCycles(dut.clock, 2)


async def start(dut, rng, stall):
    master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.clock, dut.reset_n, reset_active_level=False)
    await power_on(dut)
    channels = [
        master.write_if.aw_channel,
        master.write_if.w_channel,
        master.write_if.b_channel,
        master.read_if.ar_channel,
        master.read_if.r_channel,
    ]
    for channel in channels:
        # Each its own source, so that any one may be ahead of any other.
        channel.set_pause_generator(stalls(random.Random(rng.random()), stall * rng.choice([0.0, 0.5, 1.0])))
    return master


class Expected:
    """What the map says of registers and of the scratch memory, no more."""

    def __init__(self):
        self.registers = {r["address"]: 0 for r in REGISTERS if r["access"]["kind"] == "read-write"}
        self.bits = {r["address"]: r["bits"] for r in REGISTERS}
        self.constants = {r["address"]: r["access"]["value"] for r in REGISTERS if r["access"]["kind"] == "constant"}
        self.read_only = {r["address"] for r in REGISTERS if r["access"]["kind"] == "read-only"}
        self.known = {r["address"] for r in REGISTERS}

    def write(self, address, data):
        """Writes bytes; returns whether it is allowed."""
        word = address & ~3
        if word not in self.registers:
            return False
        old = self.registers[word].to_bytes(4, "little")
        at = address & 3
        new = old[:at] + data + old[at + len(data) :]
        self.registers[word] = int.from_bytes(new, "little") & ((1 << self.bits[word]) - 1)
        return True


def undefined(rng, expected):
    while True:
        address = rng.randrange(0, 0x400) & ~3
        if address not in expected.known:
            return address


async def transaction(master, rng, expected):
    kind = rng.choice(["write", "write", "bytes", "read", "read", "constant", "refused", "undefined", "undefined"])
    registers = sorted(expected.registers)
    if kind == "write":
        address, data = rng.choice(registers), rng.randbytes(4)
        response = await master.write(address, data)
        assert response.resp == AxiResp.OKAY
        expected.write(address, data)
    elif kind == "bytes":
        # One to three bytes: strobes.
        first = rng.randrange(0, 4)
        data = rng.randbytes(rng.randrange(1, min(4, 5 - first)) if first < 3 else 1)
        address = rng.choice(registers) + first
        response = await master.write(address, data)
        assert response.resp == AxiResp.OKAY
        expected.write(address, data)
    elif kind == "read":
        address = rng.choice(registers)
        response = await master.read(address, 4)
        assert response.resp == AxiResp.OKAY
        value = int.from_bytes(response.data, "little")
        assert value == expected.registers[address], f"{address:#x}: {value:#x}, not {expected.registers[address]:#x}"
    elif kind == "constant":
        address, value = rng.choice(sorted(expected.constants.items()))
        response = await master.read(address, 4)
        assert response.resp == AxiResp.OKAY
        assert int.from_bytes(response.data, "little") == value, f"{address:#x}"
    elif kind == "refused":
        address = rng.choice(sorted(expected.constants) + sorted(expected.read_only))
        response = await master.write(address, rng.randbytes(4))
        assert response.resp == AxiResp.SLVERR, f"{address:#x}"
    else:
        address = undefined(rng, expected)
        if rng.random() < 0.5:
            response = await master.read(address, 4)
        else:
            response = await master.write(address, rng.randbytes(4))
        assert response.resp == AxiResp.SLVERR, f"{address:#x}"


async def random_transactions(dut, stall, count):
    rng = random.Random(f"{SEED} {stall}")
    dut._log.info(f"NENDO_SEED={SEED}")
    master = await start(dut, rng, stall)
    expected = Expected()
    for address in expected.registers:
        assert (await master.write(address, bytes(4))).resp == AxiResp.OKAY
    for _ in range(count):
        await with_timeout(cocotb.start_soon(transaction(master, rng, expected)), 100, "us")


@cocotb.test()
async def registers_without_stalls(dut):
    await random_transactions(dut, 0.0, 400)


@cocotb.test()
async def registers_with_random_stalls(dut):
    await random_transactions(dut, 0.5, 600)


@cocotb.test()
async def registers_with_long_stalls(dut):
    await random_transactions(dut, 0.9, 200)


@cocotb.test()
async def memories_keep_words_and_refuse_parts_of_them(dut):
    rng = random.Random(f"{SEED} memories")
    master = await start(dut, rng, 0.4)
    written = {}
    window = WINDOWS["position"]
    signed = [f for f in window["fields"]]
    for _ in range(60):
        item = rng.randrange(window["items"])
        base = window["base"] + 4 * item * window["stride"]
        values = [rng.randrange(-(1 << (f["bits"] - 1)), 1 << (f["bits"] - 1)) for f in signed]
        words = b"".join((v & 0xFFFFFFFF).to_bytes(4, "little") for v in values)
        assert (await master.write(base, words)).resp == AxiResp.OKAY
        written[base] = words
        # Less than a word does not change anything.
        assert (await master.write(base + 8, rng.randbytes(2))).resp == AxiResp.SLVERR
    for base, words in written.items():
        response = await master.read(base, 12)
        assert response.resp == AxiResp.OKAY and response.data == words, f"{base:#x}"
    end = window["base"] + 4 * window["items"] * window["stride"]
    if not any(w["base"] == end for w in WINDOWS.values()):
        assert (await master.read(end, 4)).resp == AxiResp.SLVERR


def flag(register, field):
    return sum(((1 << f["bits"]) - 1) << f["low"] for f in BY_NAME[register]["fields"] if f["name"] == field)


def command(field):
    bits = flag("command", field)
    return (~bits & 0xFFFF) << 16 | bits


@cocotb.test()
async def starts_that_cannot_run_end_at_once(dut):
    """What a driver's author looks at: idle, a flag, no step, and the interrupt he waits for."""
    rng = random.Random(f"{SEED} starts")
    master = await start(dut, rng, 0.3)
    at = {name: r["address"] for name, r in BY_NAME.items()}
    await master.write_dword(at["interrupt_enable"], 1)
    most = {"particles": MAP["config"]["particles"], "slots": MAP["config"]["edges"], "left": 1}
    for name in most:
        for wrong in [0, most[name] + 1] if name != "left" else [0]:
            for other in most:
                await master.write_dword(at[other], rng.randrange(1, most[other] + 1))
            await master.write_dword(at[name], wrong)
            assert dut.irq.value == 0
            await master.write_dword(at["command"], command("start"))
            await ClockCycles(dut.clock, 10)
            assert dut.irq.value == 1, f"{name} = {wrong}"
            assert await master.read_dword(at["status"]) == flag("status", "refused")
            assert await master.read_dword(at["refused"]) == flag("refused", "start")
            assert await master.read_dword(at["steps_done"]) == 0
            await master.write_dword(at["refused"], flag("refused", "start"))
            await master.write_dword(at["interrupt"], 1)
            assert await master.read_dword(at["status"]) == 0


@cocotb.test()
async def what_is_for_an_idle_engine_is_refused_while_busy(dut):
    rng = random.Random(f"{SEED} busy")
    master = await start(dut, rng, 0.0)
    at = {name: r["address"] for name, r in BY_NAME.items()}
    kept = {}
    for register in REGISTERS:
        if register["access"]["kind"] == "read-write" and register["name"] != "interrupt_enable":
            kept[register["name"]] = rng.getrandbits(register["bits"])
            await master.write_dword(register["address"], kept[register["name"]])
    # Writes: what memories hold at power-on is unknown, to this simulator, too.
    names = [*kept, *WINDOWS]
    rng.shuffle(names)
    for name in names:
        # Clearing takes a clock per particle.
        await master.write_dword(at["command"], command("clear"))
        thing = WINDOWS.get(name) or BY_NAME[name]
        address, data = thing.get("base", thing.get("address")), rng.randbytes(4)
        response = await master.write(address, data)
        refused = thing["when"] == "idle"
        read_only = thing.get("way") == "read-only"
        assert response.resp == (AxiResp.SLVERR if refused or read_only else AxiResp.OKAY), name
        if name in kept and not refused:
            kept[name] = int.from_bytes(data, "little") & ((1 << thing["bits"]) - 1)
        assert await master.read_dword(at["refused"]) == (flag("refused", "access") if refused else 0), name
        await master.write_dword(at["command"], command("start"))
        assert await master.read_dword(at["refused"]) & flag("refused", "command")
        assert await master.read_dword(at["status"]) & flag("status", "busy")
        await ClockCycles(dut.clock, MAP["config"]["particles"] + 100)
        await master.write_dword(at["refused"], 0xFFFFFFFF)
        assert await master.read_dword(at["status"]) == 0
    for name, value in kept.items():
        assert await master.read_dword(at[name]) == value, name


@cocotb.test()
async def reads_and_writes_at_the_same_time(dut):
    rng = random.Random(f"{SEED} both")
    master = await start(dut, rng, 0.5)
    registers = sorted(Expected().registers)
    bits = Expected().bits
    half = len(registers) // 2
    # Writes to one half while the other is read: neither may disturb the other.
    quiet = {a: rng.getrandbits(bits[a]) for a in registers[half:]}
    for address, value in quiet.items():
        await master.write_dword(address, value)
    busy = {}

    async def writer():
        for _ in range(150):
            address = rng.choice(registers[:half])
            value = rng.getrandbits(bits[address])
            await master.write_dword(address, value)
            busy[address] = value

    async def reader():
        for _ in range(150):
            address = rng.choice(registers[half:])
            assert await master.read_dword(address) == quiet[address]

    tasks = [cocotb.start_soon(writer()), cocotb.start_soon(reader())]
    for task in tasks:
        await with_timeout(task, 10, "ms")
    for address, value in busy.items():
        assert await master.read_dword(address) == value


@cocotb.test()
async def answers_wait_for_the_master(dut):
    """VALID stays, with its data, until READY: the protocol's rule, looked at on the wires."""
    for name in ["awvalid", "wvalid", "arvalid", "bready", "rready"]:
        getattr(dut, f"s_axil_{name}").value = 0
    await power_on(dut)
    dut.s_axil_araddr.value = 0
    dut.s_axil_arvalid.value = 1
    while True:
        await RisingEdge(dut.clock)
        if dut.s_axil_arready.value == 1:
            break
    dut.s_axil_arvalid.value = 0
    for _ in range(50):
        await RisingEdge(dut.clock)
        if dut.s_axil_rvalid.value == 1:
            break
    magic = dut.s_axil_rdata.value
    assert magic == REGISTERS[0]["access"]["value"]
    for _ in range(30):
        await RisingEdge(dut.clock)
        assert dut.s_axil_rvalid.value == 1 and dut.s_axil_rdata.value == magic

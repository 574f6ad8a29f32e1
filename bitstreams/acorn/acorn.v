// The serial board on an Acorn card: 150 MHz from its 200 MHz oscillator, reset until that is steady.
module acorn (
    input wire clk200_p,
    input wire clk200_n,
    input wire sck,
    input wire cs_n,
    input wire mosi,
    output wire miso
);
    wire oscillator, feedback, generated, clock, steady;

    IBUFDS pad (
        .I(clk200_p),
        .IB(clk200_n),
        .O(oscillator)
    );
    // 200 MHz x 6 / 8
    PLLE2_ADV #(
        .CLKIN1_PERIOD(5.0),
        .DIVCLK_DIVIDE(1),
        .CLKFBOUT_MULT(6),
        .CLKOUT0_DIVIDE(8)
    ) generator (
        .CLKIN1(oscillator),
        .CLKIN2(1'b0),
        .CLKINSEL(1'b1),
        .CLKFBIN(feedback),
        .CLKFBOUT(feedback),
        .CLKOUT0(generated),
        .LOCKED(steady),
        .RST(1'b0),
        .PWRDWN(1'b0),
        .DADDR(7'b0),
        .DCLK(1'b0),
        .DEN(1'b0),
        .DI(16'b0),
        .DWE(1'b0)
    );
    BUFG buffer (
        .I(generated),
        .O(clock)
    );
    nendo_serial_board board (
        .clock(clock),
        .reset_n(steady),
        .sck(sck),
        .cs_n(cs_n),
        .mosi(mosi),
        .miso(miso)
    );
endmodule

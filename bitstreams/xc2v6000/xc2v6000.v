// The PCI card: the pads of the bus around the board top. Lines that the bus shares float unless they are driven.
module xc2v6000 (
    input wire clock,
    input wire rst_n,
    input wire idsel,
    input wire frame_n,
    input wire irdy_n,
    input wire [3:0] cbe_n,
    inout wire [31:0] ad,
    inout wire par,
    output wire devsel_n,
    output wire trdy_n,
    output wire stop_n,
    output wire perr_n,
    output wire serr_n,
    output wire inta_n
);
    wire [31:0] ad_out;
    wire ad_oe, par_out, par_oe, devsel, trdy, stop, control_oe, perr, perr_oe, serr_oe, inta_oe;

    nendo_pci_board board (
        .clock(clock),
        .rst_n(rst_n),
        .idsel(idsel),
        .frame_n(frame_n),
        .irdy_n(irdy_n),
        .ad_in(ad),
        .cbe_n(cbe_n),
        .par_in(par),
        .ad_out(ad_out),
        .ad_oe(ad_oe),
        .par_out(par_out),
        .par_oe(par_oe),
        .devsel_n(devsel),
        .trdy_n(trdy),
        .stop_n(stop),
        .control_oe(control_oe),
        .perr_n(perr),
        .perr_oe(perr_oe),
        .serr_oe(serr_oe),
        .inta_oe(inta_oe)
    );

    assign ad = ad_oe ? ad_out : 32'bz;
    assign par = par_oe ? par_out : 1'bz;
    assign devsel_n = control_oe ? devsel : 1'bz;
    assign trdy_n = control_oe ? trdy : 1'bz;
    assign stop_n = control_oe ? stop : 1'bz;
    assign perr_n = perr_oe ? perr : 1'bz;
    // Open drain: any device on the bus may pull it low.
    assign serr_n = serr_oe ? 1'b0 : 1'bz;
    assign inta_n = inta_oe ? 1'b0 : 1'bz;
endmodule

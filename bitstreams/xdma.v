// The engine behind the XDMA core's AXI4-Lite master (the `user` BAR), on the core's own clock.
// GTE4 is defined for transceivers of that kind (UltraScale+), whose reference the core takes apart from its own clock;
// without it they are GTE2 (7 series). The width of addresses is filled in: it is that of the engine's register map.
module xdma_board (
    input wire pcie_clk_p,
    input wire pcie_clk_n,
    input wire pcie_reset_n,
    input wire [7:0] pcie_rx_p,
    input wire [7:0] pcie_rx_n,
    output wire [7:0] pcie_tx_p,
    output wire [7:0] pcie_tx_n
);
    wire clock, reset_n, reference, reset_pin;
`ifdef GTE4
    wire reference_gt;
    IBUFDS_GTE4 reference_buffer (
        .I(pcie_clk_p),
        .IB(pcie_clk_n),
        .CEB(1'b0),
        .O(reference_gt),
        .ODIV2(reference)
    );
`else
    IBUFDS_GTE2 reference_buffer (
        .I(pcie_clk_p),
        .IB(pcie_clk_n),
        .CEB(1'b0),
        .O(reference),
        .ODIV2()
    );
`endif
    IBUF reset_buffer (
        .I(pcie_reset_n),
        .O(reset_pin)
    );

    wire [31:0] awaddr, wdata, araddr, rdata;
    wire [2:0] awprot, arprot;
    wire [3:0] wstrb;
    wire [1:0] bresp, rresp;
    wire awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready, irq;

    // Its memory-mapped DMA port stays unused: nothing ever answers there.
    xdma_0 pcie (
        .sys_clk(reference),
`ifdef GTE4
        .sys_clk_gt(reference_gt),
`endif
        .sys_rst_n(reset_pin),
        .pci_exp_rxp(pcie_rx_p),
        .pci_exp_rxn(pcie_rx_n),
        .pci_exp_txp(pcie_tx_p),
        .pci_exp_txn(pcie_tx_n),
        .axi_aclk(clock),
        .axi_aresetn(reset_n),
        .usr_irq_req(irq),
        .m_axi_awready(1'b0),
        .m_axi_wready(1'b0),
        .m_axi_bid(4'b0),
        .m_axi_bresp(2'b0),
        .m_axi_bvalid(1'b0),
        .m_axi_arready(1'b0),
        .m_axi_rid(4'b0),
        .m_axi_rdata(128'b0),
        .m_axi_rresp(2'b0),
        .m_axi_rlast(1'b0),
        .m_axi_rvalid(1'b0),
        .m_axil_awaddr(awaddr),
        .m_axil_awprot(awprot),
        .m_axil_awvalid(awvalid),
        .m_axil_awready(awready),
        .m_axil_wdata(wdata),
        .m_axil_wstrb(wstrb),
        .m_axil_wvalid(wvalid),
        .m_axil_wready(wready),
        .m_axil_bvalid(bvalid),
        .m_axil_bresp(bresp),
        .m_axil_bready(bready),
        .m_axil_araddr(araddr),
        .m_axil_arprot(arprot),
        .m_axil_arvalid(arvalid),
        .m_axil_arready(arready),
        .m_axil_rdata(rdata),
        .m_axil_rresp(rresp),
        .m_axil_rvalid(rvalid),
        .m_axil_rready(rready)
    );

    nendo_engine engine (
        .clock(clock),
        .reset_n(reset_n),
        .s_axil_awaddr(awaddr[ADDRESS_BITS-1:0]),
        .s_axil_awprot(awprot),
        .s_axil_awvalid(awvalid),
        .s_axil_awready(awready),
        .s_axil_wdata(wdata),
        .s_axil_wstrb(wstrb),
        .s_axil_wvalid(wvalid),
        .s_axil_wready(wready),
        .s_axil_bvalid(bvalid),
        .s_axil_bresp(bresp),
        .s_axil_bready(bready),
        .s_axil_araddr(araddr[ADDRESS_BITS-1:0]),
        .s_axil_arprot(arprot),
        .s_axil_arvalid(arvalid),
        .s_axil_arready(arready),
        .s_axil_rdata(rdata),
        .s_axil_rresp(rresp),
        .s_axil_rvalid(rvalid),
        .s_axil_rready(rready),
        .irq(irq)
    );
endmodule

// Replays recorded AXI4-Lite traffic on the engine's netlist; every word that is read must be the recorded one.
`timescale 1ns / 1ps

module testbench;
    reg [71:0] operations [0:`OPERATIONS-1];
    reg clock = 0;
    reg reset_n = 0;
    reg [31:0] address = 0, d = 0;
    reg awvalid = 0, wvalid = 0, arvalid = 0;
    wire awready, wready, bvalid, arready, rvalid;
    wire [1:0] bresp, rresp;
    wire [31:0] q;
    reg [31:0] found;
    reg [1:0] response;
    reg answered;
    integer k, words;

    always #15 clock = ~clock;

    nendo_engine engine (
        .clock(clock),
        .reset_n(reset_n),
        .s_axil_awaddr(address[`ADDRESS_BITS-1:0]),
        .s_axil_awprot(3'b0),
        .s_axil_awvalid(awvalid),
        .s_axil_awready(awready),
        .s_axil_wdata(d),
        .s_axil_wstrb(4'hf),
        .s_axil_wvalid(wvalid),
        .s_axil_wready(wready),
        .s_axil_bvalid(bvalid),
        .s_axil_bresp(bresp),
        .s_axil_bready(1'b1),
        .s_axil_araddr(address[`ADDRESS_BITS-1:0]),
        .s_axil_arprot(3'b0),
        .s_axil_arvalid(arvalid),
        .s_axil_arready(arready),
        .s_axil_rdata(q),
        .s_axil_rresp(rresp),
        .s_axil_rvalid(rvalid),
        .s_axil_rready(1'b1)
    );

    // Inputs change well after the clock's edge; outputs are taken just before the next one.
    task access(input write, input [31:0] where, input [31:0] value);
        integer clocks;
        begin
            address = where;
            d = value;
            awvalid = write;
            wvalid = write;
            arvalid = !write;
            answered = 0;
            for (clocks = 0; clocks < 1000 && !answered; clocks = clocks + 1) begin : wait_for_it
                reg aw, w, ar;
                #12;
                aw = awready;
                w = wready;
                ar = arready;
                if (write ? bvalid === 1 : rvalid === 1) begin
                    answered = 1;
                    found = q;
                    response = write ? bresp : rresp;
                end
                @(posedge clock);
                #2;
                if (aw === 1) awvalid = 0;
                if (w === 1) wvalid = 0;
                if (ar === 1) arvalid = 0;
            end
            if (!answered) begin
                $display("FAILED: no answer at %h", where);
                $finish;
            end
            if (response !== 0) begin
                $display("FAILED: error answer at %h", where);
                $finish;
            end
        end
    endtask

    initial begin
        $readmemh("traffic.hex", operations);
        words = 0;
        repeat (8) @(posedge clock);
        #2 reset_n = 1;
        repeat (2) @(posedge clock);
        #2;
        for (k = 0; k < `OPERATIONS; k = k + 1)
            case (operations[k][71:64])
                0: begin
                    repeat (operations[k][31:0]) @(posedge clock);
                    #2;
                end
                1: access(1, operations[k][63:32], operations[k][31:0]);
                default: begin
                    access(0, operations[k][63:32], 0);
                    if (found !== operations[k][31:0]) begin
                        $display("FAILED: %h at %h, recorded was %h", found, operations[k][63:32], operations[k][31:0]);
                        $finish;
                    end
                    words = words + 1;
                end
            endcase
        $display("EQUAL: %0d words", words);
        $finish;
    end
endmodule

// Replays recorded traffic over the PCI bus on the card's netlist; every word that is read must be the recorded one.
`timescale 1ns / 1ps

module testbench;
    localparam BAR = 32'he0000000;
    reg [71:0] operations [0:`OPERATIONS-1];
    reg clock = 0;
    reg rst_n = 0, idsel = 0, frame_n = 1, irdy_n = 1;
    reg [3:0] cbe_n = 4'hf;
    reg [31:0] ad_drive = 0;
    reg ad_on = 0, par_drive = 0, par_on = 0;
    wire [31:0] ad = ad_on ? ad_drive : 32'bz;
    wire par = par_on ? par_drive : 1'bz;
    tri1 devsel_n, trdy_n, stop_n, perr_n, serr_n, inta_n;
    reg [31:0] found;
    reg retried, read_parity;
    integer k, words;

    always #15 clock = ~clock;

    `CARD card (
        .clock(clock),
        .rst_n(rst_n),
        .idsel(idsel),
        .frame_n(frame_n),
        .irdy_n(irdy_n),
        .cbe_n(cbe_n),
        .ad(ad),
        .par(par),
        .devsel_n(devsel_n),
        .trdy_n(trdy_n),
        .stop_n(stop_n),
        .perr_n(perr_n),
        .serr_n(serr_n),
        .inta_n(inta_n)
    );

    task failed(input [31:0] where);
        begin
            $display("FAILED: no proper end at %h", where);
            $finish;
        end
    endtask

    // Inputs change well after the clock's edge; outputs are taken just before the next one.
    task step;
        begin
            @(posedge clock);
            #2 par_drive = ^{ad_drive, cbe_n};
            par_on = ad_on;
        end
    endtask

    // One data phase; told to come back, it leaves with `retried`.
    task once(input [3:0] command, input [31:0] where, input [31:0] value);
        integer clocks;
        reg ended;
        begin
            frame_n = 0;
            idsel = command[3:1] == 3'b101;
            cbe_n = command;
            ad_drive = where;
            ad_on = 1;
            step;
            frame_n = 1;
            irdy_n = 0;
            idsel = 0;
            cbe_n = 0;
            ad_drive = value;
            ad_on = command[0];
            ended = 0;
            for (clocks = 0; clocks < 20 && !ended; clocks = clocks + 1) begin
                #12;
                ended = trdy_n === 0 || stop_n === 0;
                retried = trdy_n !== 0;
                found = ad;
                if (ended && devsel_n !== 0) failed(where);
                step;
            end
            if (!ended) failed(where);
            irdy_n = 1;
            ad_on = 0;
            cbe_n = 4'hf;
            #12 read_parity = par;
            if (!command[0] && !retried && read_parity !== ^found) begin
                $display("FAILED: parity of %h at %h", found, where);
                $finish;
            end
            step;
        end
    endtask

    task access(input [3:0] command, input [31:0] where, input [31:0] value);
        integer tries;
        begin
            retried = 1;
            for (tries = 0; tries < 100 && retried; tries = tries + 1) once(command, where, value);
            if (retried) failed(where);
        end
    endtask

    always @(posedge clock)
        if (rst_n && (serr_n === 0 || perr_n === 0)) begin
            $display("FAILED: an error was signalled");
            $finish;
        end

    initial begin
        $readmemh("traffic.hex", operations);
        words = 0;
        repeat (8) @(posedge clock);
        #2 rst_n = 1;
        repeat (2) step;
        access(4'hb, 32'h10, BAR);
        access(4'hb, 32'h04, 32'h142);
        access(4'ha, 32'h10, 0);
        if (found !== BAR) failed(32'h10);
        for (k = 0; k < `OPERATIONS; k = k + 1)
            case (operations[k][71:64])
                0: repeat (operations[k][31:0]) step;
                1: access(4'h7, BAR + operations[k][63:32], operations[k][31:0]);
                default: begin
                    access(4'h6, BAR + operations[k][63:32], 0);
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

# Vivado in non-project mode: vivado -mode batch -source build.tcl
# Unverified: written from the manuals, Vivado was not at hand. Made for Vivado 2023.2.
set part @PART@
set_part $part

# PCIe by the vendor's XDMA core; its AXI4-Lite master, the `user` BAR of 1 MiB, reaches the engine.
create_ip -name xdma -vendor xilinx.com -library ip -module_name xdma_0 -dir .
set_property -dict [list \
    CONFIG.pl_link_cap_max_link_width {X8} \
    CONFIG.pl_link_cap_max_link_speed {2.5_GT/s} \
    CONFIG.axi_data_width {128_bit} \
    CONFIG.axisten_freq {125} \
    CONFIG.axilite_master_en {true} \
    CONFIG.axilite_master_size {1} \
    CONFIG.axilite_master_scale {Megabytes} \
] [get_ips xdma_0]
generate_target all [get_ips xdma_0]
synth_ip [get_ips xdma_0]

read_verilog [list @SOURCES@]
read_xdc board.xdc
synth_design -top @TOP@ -part $part
report_utilization -hierarchical -file utilization_synthesised.txt
opt_design
place_design
phys_opt_design
route_design
report_timing_summary -file timing.txt
report_utilization -file utilization.txt
if {[get_property SLACK [get_timing_paths -max_paths 1]] < 0} {
    puts "ERROR: timing is not met, see timing.txt"
    exit 1
}
write_bitstream -force nendo.bit

# PCIe reference clock 100 MHz; the lanes' places come with the XDMA core. Pins as the board's user guide gives them;
# unverified.
create_clock -name pcie_clk -period 10.000 [get_ports pcie_clk_p]
set_property PACKAGE_PIN AB8 [get_ports pcie_clk_p]
set_property PACKAGE_PIN AB7 [get_ports pcie_clk_n]
set_property PACKAGE_PIN AV35 [get_ports pcie_reset_n]
set_property IOSTANDARD LVCMOS18 [get_ports pcie_reset_n]
set_property PULLUP true [get_ports pcie_reset_n]
set_false_path -from [get_ports pcie_reset_n]

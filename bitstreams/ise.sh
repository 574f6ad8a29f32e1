#!/bin/sh
# ISE in batch mode, from the netlist to the bitstream. Unverified: written from the manuals, ISE was not at hand.
# ISE 10.1 is believed to be the last release with Virtex-II.
set -e
part=@PART@
ngdbuild -p $part -uc nendo.ucf nendo.edif nendo.ngd
map -p $part -o nendo_map.ncd nendo.ngd nendo.pcf
par -w -ol high nendo_map.ncd nendo.ncd nendo.pcf
trce -v 3 -o nendo.twr nendo.ncd nendo.pcf
bitgen -w nendo.ncd nendo.bit nendo.pcf

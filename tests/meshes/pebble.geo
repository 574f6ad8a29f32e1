// The surface of a pebble in millimetres. gmsh 4.8.4:
//   gmsh -2 -format stl -bin -o pebble.stl pebble.geo
//   gmsh -2 -format stl -o pebble-text.stl pebble.geo
SetFactory("OpenCASCADE");
Mesh.MeshSizeMin = 8;
Mesh.MeshSizeMax = 8;
Sphere(1) = {0, 0, 0, 20};
Dilate {{0, 0, 0}, {1.5, 1, 0.7}} { Volume{1}; }

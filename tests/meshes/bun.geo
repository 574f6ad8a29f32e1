// A bun: a half ball of dough around a firmer core, lying flat. gmsh 4.8.4:
//   gmsh -3 -format msh41 -o bun41.msh bun.geo
//   gmsh -3 -format msh22 -o bun22.msh bun.geo
SetFactory("OpenCASCADE");
Mesh.MeshSizeMin = 0.012;
Mesh.MeshSizeMax = 0.016;
Mesh.RandomSeed = 1;
Sphere(1) = {0, 0, 0, 0.04, 0, Pi/2, 2*Pi};
Sphere(2) = {0, 0, 0, 0.02, 0, Pi/2, 2*Pi};
BooleanFragments{ Volume{1}; Delete; }{ Volume{2}; Delete; }
base() = Surface In BoundingBox{-1, -1, -1e-4, 1, 1, 1e-4};
core() = Volume In BoundingBox{-0.021, -0.021, -0.001, 0.021, 0.021, 0.021};
all() = Volume{:};
Physical Surface("base") = base();
Physical Volume("core") = core();
Physical Volume("dough") = {all()};
Physical Volume("dough") -= core();

# The functions of nixpkgs' library that our flake uses.
rec {
  genAttrs =
    names: make:
    builtins.listToAttrs (
      map (name: {
        inherit name;
        value = make name;
      }) names
    );

  hasSuffix =
    suffix: text:
    let
      length = builtins.stringLength text;
      tail = builtins.stringLength suffix;
    in
    length >= tail && builtins.substring (length - tail) tail text == suffix;

  optionalAttrs = condition: attributes: if condition then attributes else { };

  optionalString = condition: text: if condition then text else "";

  getExe = package: "${package}/bin/${package.meta.mainProgram}";

  licenses.mit.spdxId = "MIT";
  platforms.unix = [ "x86_64-linux" ];

  fileset = {
    # As in nixpkgs, a path that does not exist is an error.
    toSource = { root, fileset }: assert builtins.all builtins.pathExists fileset; root;
    unions = paths: paths;
  };
}

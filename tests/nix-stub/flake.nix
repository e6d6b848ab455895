# Stands in for nixpkgs, so that our flake can be evaluated without a network: packages that do
# nothing, and just the functions that the flake uses. See scripts/check-flake.
{
  description = "a stub of nixpkgs";

  outputs =
    { self }:
    let
      lib = import ./lib.nix;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      package =
        system: name:
        derivation {
          inherit name system;
          builder = "/bin/sh";
          args = [
            "-c"
            "echo > $out"
          ];
        };
      # As in nixpkgs, arguments that the build does not need itself may be anything.
      rustPlatform = system: {
        # The source is looked at, so that a file which is not there is an error here too.
        buildRustPackage =
          {
            pname,
            version,
            src,
            cargoLock,
            meta,
            nativeBuildInputs,
            postInstall,
            ...
          }:
          # Evaluated as a whole, so that a mistake in them is an error here too.
          assert builtins.isString (builtins.deepSeq nativeBuildInputs postInstall);
          assert builtins.pathExists cargoLock.lockFile;
          builtins.seq src (package system "${pname}-${version}" // { inherit version meta; });
      };
      packagesFor =
        system:
        let
          scope = {
            inherit lib;
            rustPlatform = rustPlatform system;
            callPackage = make: more: make ((builtins.intersectAttrs (builtins.functionArgs make) scope) // more);
            installShellFiles = package system "install-shell-files";
            stdenv.hostPlatform = {
              inherit system;
              isLinux = lib.hasSuffix "linux" system;
            };
            stdenv.buildPlatform.canExecute = platform: platform.system == system;
          };
        in
        scope
        // lib.genAttrs [
          "cargo"
          "clippy"
          "nixfmt"
          "nodejs"
          "python3"
          "rustc"
          "rustfmt"
        ] (package system)
        // {
          pkgsStatic = scope;
          mkShell = { packages, ... }: (package system "shell") // { inherit packages; };
        };
    in
    {
      inherit lib;
      legacyPackages = lib.genAttrs systems packagesFor;
    };
}

{
  description = "mcpmini, the MCP client for shell scripts";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-26.05";

  outputs =
    { self, nixpkgs }:
    let
      inherit (nixpkgs) lib;
      systems = [
        "x86_64-linux"
        "aarch64-linux"
        "x86_64-darwin"
        "aarch64-darwin"
      ];
      eachSystem = make: lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = (fromTOML (builtins.readFile ./Cargo.toml)).package;

      mkPackage =
        {
          lib,
          stdenv,
          rustPlatform,
          installShellFiles,
        }:
        rustPlatform.buildRustPackage {
          pname = manifest.name;
          inherit (manifest) version;
          src = lib.fileset.toSource {
            root = ./.;
            fileset = lib.fileset.unions [
              ./.cargo
              ./ARCHITECTURE.md # part of the library's documentation
              ./Cargo.lock
              ./Cargo.toml
              ./LICENSE
              ./benches
              ./scripts/build.rs
              ./scripts/link
              ./src
              ./tests # the manifest names the example that lies there
            ];
          };
          cargoLock.lockFile = ./Cargo.lock;
          # As in .cargo/config.toml, which says why.
          env.AWS_LC_SYS_NO_JITTER_ENTROPY = "1";
          # The tests want servers from npm and PyPI, which a sandbox cannot reach.
          doCheck = false;
          nativeBuildInputs = [ installShellFiles ];
          # The program prints its own man page and completions, where it can be run.
          postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
            $out/bin/mcpmini help --man > mcpmini.1
            installManPage mcpmini.1
            installShellCompletion --cmd mcpmini \
              --bash <($out/bin/mcpmini completions bash) \
              --zsh <($out/bin/mcpmini completions zsh) \
              --fish <($out/bin/mcpmini completions fish)
          '';
          meta = {
            inherit (manifest) description;
            license = lib.licenses.mit;
            mainProgram = "mcpmini";
            platforms = lib.platforms.unix;
          };
        };
    in
    {
      overlays.default = final: prev: { mcpmini = final.callPackage mkPackage { }; };

      packages = eachSystem (
        pkgs:
        {
          default = self.packages.${pkgs.stdenv.hostPlatform.system}.mcpmini;
          mcpmini = pkgs.callPackage mkPackage { };
        }
        // lib.optionalAttrs pkgs.stdenv.hostPlatform.isLinux {
          static = pkgs.pkgsStatic.callPackage mkPackage { };
        }
      );

      apps = eachSystem (pkgs: {
        default = {
          type = "app";
          program = lib.getExe self.packages.${pkgs.stdenv.hostPlatform.system}.mcpmini;
          meta = { inherit (manifest) description; };
        };
      });

      checks = eachSystem (pkgs: {
        inherit (self.packages.${pkgs.stdenv.hostPlatform.system}) mcpmini;
      });

      devShells = eachSystem (pkgs: {
        default = pkgs.mkShell {
          packages = [
            pkgs.cargo
            pkgs.clippy
            pkgs.nodejs
            pkgs.python3
            pkgs.rustc
            pkgs.rustfmt
          ];
          AWS_LC_SYS_NO_JITTER_ENTROPY = "1";
        };
      });

      formatter = eachSystem (pkgs: pkgs.nixfmt);
    };
}

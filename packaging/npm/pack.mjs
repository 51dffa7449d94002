// Makes two npm packages: `harn-lang`, whose command starts the one of the platform, and the package of this platform.
//
//   node packaging/npm/pack.mjs --binary FILE --target TRIPLE --version VERSION --out FOLDER
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const options = Object.fromEntries(["binary", "target", "version", "out"].map((name) => [name, { type: "string" }]));
const { values } = parseArgs({ options });
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const platforms = JSON.parse(readFileSync(join(here, "platforms.json"), "utf8"));
const missing = Object.keys(options).filter((name) => !values[name]);
if (missing.length > 0) fail(`missing ${missing.map((name) => `--${name}`).join(", ")}`);
const platform = platforms[values.target];
if (!platform) fail(`no npm package for ${values.target}; packaging/npm/platforms.json lists the targets`);

const shared = {
  version: values.version,
  license: "MIT OR Apache-2.0",
  description: "A scripting language and runtime for pipelines that drive LLM agents",
};
const nameOf = ({ os, cpu }) => `harn-lang-${os}-${cpu}`;

const scratch = mkdtempSync(join(tmpdir(), "harn-npm-"));
try {
  const command = basename(values.binary);
  pack(nameOf(platform), (folder) => {
    mkdirSync(join(folder, "bin"));
    cpSync(values.binary, join(folder, "bin", command));
    chmodSync(join(folder, "bin", command), 0o755);
    const { os, cpu, libc } = platform;
    return {
      description: `The command of harn-lang for ${os} on ${cpu}`,
      os: [os],
      cpu: [cpu],
      ...(libc && { libc: [libc] }),
      preferUnplugged: true,
      files: ["bin"],
    };
  });
  pack("harn-lang", (folder) => {
    cpSync(join(here, "bin"), join(folder, "bin"), { recursive: true });
    cpSync(join(here, "README.md"), join(folder, "README.md"));
    const known = Object.values(platforms).map((known) => [nameOf(known), values.version]);
    return {
      keywords: ["agents", "llm", "prompts", "scripting-language"],
      bin: { harn: "bin/harn.js" },
      engines: { node: ">=18" },
      files: ["bin"],
      optionalDependencies: Object.fromEntries(known),
    };
  });
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** Writes a package to a folder of its own, and packs it. */
function pack(name, fill) {
  const folder = join(scratch, name);
  mkdirSync(folder);
  for (const licence of ["LICENSE-MIT", "LICENSE-APACHE"]) cpSync(join(root, licence), join(folder, licence));
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ name, ...shared, ...fill(folder) }, null, 2)}\n`);
  const arguments_ = ["pack", "--silent", "--pack-destination", resolve(values.out)];
  const { status, error } = spawnSync("npm", arguments_, { cwd: folder, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0) fail(`npm pack of ${name} failed${error ? `: ${error.message}` : ""}`);
}

function fail(message) {
  console.error(`pack.mjs: ${message}`);
  process.exit(1);
}

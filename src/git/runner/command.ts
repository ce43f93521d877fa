type Rules = {
  /** Writes to the repository, so it must not run against the shared empty one. */
  readonly writes: boolean
  /** Supports `--end-of-options`; otherwise arguments that start with `-` are rejected. */
  readonly endOfOptions: boolean
  /** Accepts pathspecs after `--`. */
  readonly paths?: true
}

/** Subcommands that the server may run, and the rules for running each one safely. */
const commands = {
  archive: { writes: false, endOfOptions: true, paths: true },
  blame: { writes: false, endOfOptions: false, paths: true },
  'cat-file': { writes: false, endOfOptions: true },
  // A subcommand of two words, so that flags follow the second one.
  'commit-graph write': { writes: true, endOfOptions: false },
  'diff-tree': { writes: false, endOfOptions: true, paths: true },
  fetch: { writes: true, endOfOptions: true },
  'for-each-ref': { writes: false, endOfOptions: false },
  fsck: { writes: false, endOfOptions: false },
  // It treats `--end-of-options` as a revision.
  grep: { writes: false, endOfOptions: false, paths: true },
  'index-pack': { writes: true, endOfOptions: false },
  log: { writes: false, endOfOptions: true, paths: true },
  'ls-remote': { writes: false, endOfOptions: true },
  'ls-tree': { writes: false, endOfOptions: false },
  'merge-base': { writes: false, endOfOptions: false },
  'merge-tree': { writes: true, endOfOptions: false },
  'pack-objects': { writes: true, endOfOptions: false },
  'pack-refs': { writes: true, endOfOptions: false },
  prune: { writes: true, endOfOptions: false },
  // To a URL, so it writes no ref of this repository.
  push: { writes: false, endOfOptions: true },
  'receive-pack': { writes: true, endOfOptions: false },
  repack: { writes: true, endOfOptions: false },
  'rev-list': { writes: false, endOfOptions: true, paths: true },
  'unpack-objects': { writes: true, endOfOptions: false },
  'update-ref': { writes: true, endOfOptions: false },
  'upload-pack': { writes: false, endOfOptions: false },
} as const satisfies Record<string, Rules>

export type Subcommand = keyof typeof commands

/** `flags` come from the code, one per word; `args` and `paths` may contain user text and are never interpreted as flags. */
export type GitArgs = {
  readonly flags?: readonly `-${string}`[]
  readonly args?: readonly string[]
  /** Literal pathspecs, put after `--`. */
  readonly paths?: readonly string[]
}

export const writesRepository = (subcommand: Subcommand): boolean => commands[subcommand].writes

/** Whether these are arguments that the service gives to git, for a subcommand that writes nothing to its repository. */
export function isReading([first = '', second = '']: readonly string[]): boolean {
  const subcommand = first.startsWith('--git-dir=') ? second : first
  return subcommand in commands && !writesRepository(subcommand as Subcommand)
}

/**
 * The arguments of `git`. Throws if an argument looks like an option, or contains a NUL, which would truncate it: both are bugs
 * of the caller, which should have validated the text.
 */
export function argvFor(subcommand: Subcommand, { flags = [], args = [], paths }: GitArgs): string[] {
  const rules: Rules = commands[subcommand]
  if (paths !== undefined && !rules.paths) throw new Error(`git ${subcommand} takes no paths`)
  const separator = rules.endOfOptions && args.length > 0 ? ['--end-of-options'] : []
  if (!rules.endOfOptions && args.some((arg) => arg.startsWith('-'))) {
    throw new Error(`git ${subcommand}: an argument looks like an option`)
  }
  const words = [
    ...subcommand.split(' '),
    ...flags,
    ...separator,
    ...args,
    ...(paths === undefined ? [] : ['--', ...paths]),
  ]
  if (words.some((word) => word.includes('\0'))) throw new Error(`git ${subcommand}: an argument holds a NUL`)
  return words
}

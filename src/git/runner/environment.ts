import { devNull } from 'node:os'
import { hiddenRefs, serverRefs } from '../format/ref-name.ts'

type Settings = readonly (readonly [key: string, value: string])[]

/**
 * Git settings that hold for every command. They have command scope, so they win over a repository's own config file,
 * which may come from an import or an administrator.
 */
const settings: Settings = [
  // Repositories may belong to another user of the machine (a mounted volume, a backup that was restored).
  ['safe.directory', '*'],
  // Hooks inside a repository never run; `receivePack` points this at ours.
  ['core.hooksPath', devNull],
  // Maintenance is a job with a deadline, never a surprise at the end of a push.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autoGC', 'false'],
  ['core.quotePath', 'false'],
  // Each id that is named would be looked for among the refs first, in a dozen files.
  ['core.warnAmbiguousRefs', 'false'],
  // What we acknowledged survives a power cut: objects first, then refs.
  ['core.fsync', 'committed,reference'],
  ['core.fsyncMethod', 'fsync'],
  // Two writers of one ref: the second waits for the lock instead of failing at once.
  ['core.filesRefLockTimeout', '1000'],
  ['core.packedRefsTimeout', '2000'],
  // A repository's config must not name a program to run. No alternate of ours has refs worth telling; an empty command
  // would make git complain to whoever pushes.
  ['core.alternateRefsCommand', 'true'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', devNull],
  ['core.excludesFile', devNull],
  ['transfer.fsckObjects', 'true'],
  ['protocol.version', '2'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  // A filter that reads its rules from a file of the repository matches every path against them; a deep one walks every tree.
  ['uploadpackfilter.sparse:oid.allow', 'false'],
  ['uploadpackfilter.tree.maxDepth', '16'],
  ['receive.advertisePushOptions', 'true'],
  // Which branch may move or go is decided before the push, not by git.
  ['receive.denyCurrentBranch', 'ignore'],
  ['receive.denyDeleteCurrent', 'ignore'],
  // Small pushes become loose objects (cheap to add), larger ones stay one pack.
  ['receive.unpackLimit', '100'],
  ['fetch.unpackLimit', '100'],
  ['core.commitGraph', 'true'],
  ['gc.writeCommitGraph', 'true'],
  ['repack.writeBitmaps', 'true'],
  // Memory of one process: the delta window, each thread's share, what is mapped at a time, and blobs that are only streamed.
  ['pack.threads', '2'],
  ['pack.windowMemory', '128m'],
  ['pack.deltaCacheSize', '64m'],
  ['core.deltaBaseCacheLimit', '64m'],
  ['core.bigFileThreshold', '32m'],
  ['diff.renameLimit', '1000'],
  ...hiddenRefs.map((name) => ['transfer.hideRefs', name] as const),
  ...serverRefs.map((name) => ['receive.hideRefs', name] as const),
]

/** Settings of one run, numbered after the general ones so that they win. */
export const settingsEnv = (extra: Settings): Record<string, string> => ({
  GIT_CONFIG_COUNT: String(settings.length + extra.length),
  ...numbered(extra, settings.length),
})

const numbered = (pairs: Settings, first: number): Record<string, string> =>
  Object.fromEntries(
    pairs.flatMap(([key, value], index) => [
      [`GIT_CONFIG_KEY_${first + index}`, key],
      [`GIT_CONFIG_VALUE_${first + index}`, value],
    ]),
  )

/**
 * The whole environment of every git process: nothing of the server's own environment (tokens, proxies, a developer's
 * `GIT_DIR`) but the search path. `path` is the value of `PATH`.
 */
export const gitEnvironment = (path: string): Record<string, string> => ({
  PATH: path,
  LC_ALL: 'C',
  TZ: 'UTC',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_ATTR_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: '/bin/false',
  SSH_ASKPASS: '/bin/false',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_NO_LAZY_FETCH: '1',
  // No transport unless a run says so: a stored URL must never make git connect anywhere.
  GIT_ALLOW_PROTOCOL: '',
  // Only used when git writes a commit or a reflog for us without being told who: never a person's name.
  GIT_AUTHOR_NAME: 'Stithy',
  GIT_AUTHOR_EMAIL: 'stithy@localhost',
  GIT_COMMITTER_NAME: 'Stithy',
  GIT_COMMITTER_EMAIL: 'stithy@localhost',
  ...numbered(settings, 0),
  GIT_CONFIG_COUNT: String(settings.length),
})

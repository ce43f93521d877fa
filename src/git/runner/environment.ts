import { devNull } from 'node:os'
import { hiddenRefs, serverRefs } from '../format/ref-name.ts'

type Settings = readonly (readonly [key: string, value: string])[]

/**
 * Git settings for every command. They have command scope and so override a repository's own config file, which may come from
 * an import or an administrator.
 */
const settings: Settings = [
  // Repositories may belong to another user of the machine (a mounted volume, a restored backup).
  ['safe.directory', '*'],
  // Hooks inside a repository never run; `receivePack` sets this to the server's hooks.
  ['core.hooksPath', devNull],
  // Maintenance is a job with a timeout and must not delay a push.
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  ['receive.autoGC', 'false'],
  ['core.quotePath', 'false'],
  // Git would otherwise search the refs for each object id on the command line, in a dozen files.
  ['core.warnAmbiguousRefs', 'false'],
  // Acknowledged writes survive a power loss: objects first, then refs.
  ['core.fsync', 'committed,reference'],
  ['core.fsyncMethod', 'fsync'],
  // Of two concurrent writers of a ref, the second waits for the lock instead of failing at once.
  ['core.filesRefLockTimeout', '1000'],
  ['core.packedRefsTimeout', '2000'],
  // A repository's config must not name a program to run. The refs of alternates need not be advertised; an empty command would
  // make git print a warning to the pushing user.
  ['core.alternateRefsCommand', 'true'],
  ['core.fsmonitor', 'false'],
  ['core.attributesFile', devNull],
  ['core.excludesFile', devNull],
  ['transfer.fsckObjects', 'true'],
  ['protocol.version', '2'],
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  // A sparse filter matches every path against patterns from a file of the repository; a deep tree filter walks every tree.
  ['uploadpackfilter.sparse:oid.allow', 'false'],
  ['uploadpackfilter.tree.maxDepth', '16'],
  ['receive.advertisePushOptions', 'true'],
  // The server decides before the push which branches may move or be deleted.
  ['receive.denyCurrentBranch', 'ignore'],
  ['receive.denyDeleteCurrent', 'ignore'],
  // Small pushes become loose objects, which are cheap to add; larger ones stay one pack.
  ['receive.unpackLimit', '100'],
  ['fetch.unpackLimit', '100'],
  ['core.commitGraph', 'true'],
  ['gc.writeCommitGraph', 'true'],
  ['repack.writeBitmaps', 'true'],
  // Memory limits of one process: the delta window, the caches of each thread, and the size from which blobs are streamed.
  ['pack.threads', '2'],
  ['pack.windowMemory', '128m'],
  ['pack.deltaCacheSize', '64m'],
  ['core.deltaBaseCacheLimit', '64m'],
  ['core.bigFileThreshold', '32m'],
  ['diff.renameLimit', '1000'],
  ...hiddenRefs.map((name) => ['transfer.hideRefs', name] as const),
  ...serverRefs.map((name) => ['receive.hideRefs', name] as const),
]

/** Settings of one run, numbered after the general ones so that they override them. */
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
 * The complete environment of every git process: only the search path `path` comes from the server's own environment, which may
 * contain tokens, proxies or a developer's `GIT_DIR`.
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
  // No transport unless a command allows one: a stored URL must never make git open a connection.
  GIT_ALLOW_PROTOCOL: '',
  // Only for commits and reflogs that git writes without an explicit identity; never the name of a user.
  GIT_AUTHOR_NAME: 'Stithy',
  GIT_AUTHOR_EMAIL: 'stithy@localhost',
  GIT_COMMITTER_NAME: 'Stithy',
  GIT_COMMITTER_EMAIL: 'stithy@localhost',
  ...numbered(settings, 0),
  GIT_CONFIG_COUNT: String(settings.length),
})

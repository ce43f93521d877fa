import { PassThrough } from 'node:stream'
import { Failure } from '../../kernel/failure.ts'
import type { Repository } from '../repository/repository.ts'
import type { Child } from '../runner/child.ts'
import { settingsEnv } from '../runner/environment.ts'
import { endedWell } from '../runner/protocol.ts'
import { fetchCapabilities, refsForPush } from './advertised-refs.ts'
import { hidingBroken, lastOfDamaged, protocolEnv, runOptions, startUploadPack, watched } from './serving.ts'
import type { Transfer } from './transfer-stream.ts'

type AdvertiseOptions = {
  /** The `Git-Protocol` header or variable of the client; unknown values are ignored. */
  readonly protocol?: string | undefined
  /** Maximum time in milliseconds without traffic. Default 10 minutes. */
  readonly idleMs?: number
}

const flags = ['--stateless-rpc', '--http-backend-info-refs']

/**
 * What git says first: the list of refs, or by protocol 2 what a client can ask for. The response to `GET info/refs`, without the service line
 * that HTTP puts before it. At most one process. The client sends nothing. For a push, the repository must exist.
 */
export async function advertise(
  repo: Repository,
  side: 'upload-pack' | 'receive-pack',
  options: AdvertiseOptions,
): Promise<Transfer> {
  const version = protocolEnv(options.protocol)['GIT_PROTOCOL']
  const known = side === 'upload-pack' ? fetchList(repo, version) : pushList(repo, version)
  const bytes = await known
  if (bytes) {
    const stream = new PassThrough()
    stream.end(bytes)
    return { stream, done: Promise.resolve(endedWell) }
  }
  const child = await (side === 'upload-pack'
    ? startUploadPack(repo, flags, { ...options, stdin: false })
    : startReceivePack(repo, options))
  return { stream: child.endingWith(lastOfDamaged), done: watched(child, { idleMs: options.idleMs }) }
}

const fetchList = async (repo: Repository, version: string | undefined): Promise<Buffer | undefined> =>
  version === 'version=2' ? fetchCapabilities(repo.git) : undefined

async function pushList(repo: Repository, version: string | undefined): Promise<Buffer | undefined> {
  if (!(await repo.exists())) throw new Failure('unprocessable', 'The repository does not exist')
  // By protocol 1, git writes a line before the refs.
  return version === 'version=1' ? undefined : refsForPush(repo)
}

const startReceivePack = async (repo: Repository, { protocol }: AdvertiseOptions): Promise<Child> =>
  repo.git.runner.start(['receive-pack', ...flags, repo.gitDir], {
    ...runOptions(repo, {}),
    stdin: false,
    env: { ...protocolEnv(protocol), ...settingsEnv(await hidingBroken(repo)) },
  })

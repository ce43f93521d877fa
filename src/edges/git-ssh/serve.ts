import type { Ctx } from '../../api/ctx.ts'
import { flushPacket, isFlush } from '../../git/format/packets.ts'
import type { Exit } from '../../git/runner/protocol.ts'
import { advertise } from '../../git/transfer/advertise.ts'
import { uploadArchive, uploadPack } from '../../git/transfer/transfer.ts'
import { Failure } from '../../kernel/failure.ts'
import { createFromPush } from '../../modules/lifecycle/index.ts'
import { type AnswerToPush, largeFileCredentials } from '../../modules/pushes/index.ts'
import {
  type Access,
  damageLog,
  type GitTarget,
  gitAccess,
  lfsAccessForCredential,
  openToFetch,
  protocolRefusal,
  receivePush,
} from '../../modules/transport/index.ts'
import { type Call, relay, send, sendMessage } from './call.ts'
import type { Command } from './command.ts'
import { recoveryCodes } from './recovery-codes.ts'

const failed = 1

/** A user of a key, and the context for them; `reopen` resolves with that of later, without one if they may not act any more. */
type Client = {
  readonly name: string
  readonly keyId: number
  readonly ctx: Ctx
  reopen(): Promise<Ctx | undefined>
}

/** Runs one command of an authorized user. Resolves with its exit status. */
export async function serve(
  call: Call,
  command: Command,
  client: Client,
  answers: readonly AnswerToPush[],
): Promise<number> {
  const { name, ctx } = client
  switch (command.kind) {
    case 'welcome':
      await send(call, `Welcome to Stithy, ${name}!\n`)
      return 0
    case 'large-files':
      return largeFiles(call, command, client)
    case 'recovery-codes':
      return recoveryCodes(call, ctx, () => refusedNow(client))
    case 'unknown':
      sendMessage(call, "The command you're trying to execute is not allowed.")
      return failed
    case 'transfer':
      return transfer(call, command, client, answers)
  }
}

/** Sends the URL of the LFS API and a credential for it. */
async function largeFiles(
  call: Call,
  { path, operation }: Extract<Command, { kind: 'large-files' }>,
  { keyId, ctx }: Client,
): Promise<number> {
  const closed = protocolRefusal(ctx, 'ssh')
  const find = () => lfsAccessForCredential(ctx, path, operation)
  const access = closed ? { message: closed } : ctx.settings.lfs_enabled ? await find() : switchedOff
  if ('storage' in access || 'new' in access) {
    const from = ctx.actor!.deployKey ? undefined : { holder: { sshKeyId: keyId } }
    const project = 'storage' in access ? access.storage.project : { full_path: path }
    const credentials = await largeFileCredentials(ctx, project, operation, from)
    await send(call, `${JSON.stringify(credentials)}\n`)
    return 0
  }
  sendMessage(call, 'message' in access ? access.message : 'Not found.')
  return failed
}

const switchedOff = { message: 'Git LFS is not enabled on this Stithy server, contact your admin.' }

const keyLost = 'This key may not be used any more.'

/** Why the client may not go on; undefined if it may. */
const refusedNow = async ({ reopen }: Client): Promise<string | undefined> => ((await reopen()) ? undefined : keyLost)

async function transfer(
  call: Call,
  { service, path }: Extract<Command, { kind: 'transfer' }>,
  client: Client,
  answers: readonly AnswerToPush[],
): Promise<number> {
  const { ctx, reopen } = client
  // Permission to fetch includes archives.
  const access = await gitAccess(ctx, path, service === 'git-upload-archive' ? 'git-upload-pack' : service, 'ssh')
  const refusal = refusalOf(access)
  if (refusal !== undefined) {
    sendMessage(call, refusal)
    return failed
  }
  const options = { idleMs: call.stalledMs, protocol: call.protocol }
  const pushOptions = { ...options, answers, refusedNow: () => refusedNow(client) }
  if ('plan' in access) return pushToNothing(call, path, client, pushOptions)
  const { target } = access as { target: GitTarget }
  if (service === 'git-receive-pack') return push(call, target, ctx, pushOptions)
  const repo = (await openToFetch(ctx, target)).withSignal(call.signal)
  const requireStill = async () => {
    const now = await reopen()
    const refused = now ? refusalOf(await gitAccess(now, path, 'git-upload-pack', 'ssh')) : keyLost
    if (refused !== undefined) throw new Failure('forbidden', refused)
  }
  const serveFetch = service === 'git-upload-pack' ? uploadPack : uploadArchive
  const onDamage = damageLog(ctx, target)
  return statusOf(await relay(call, await serveFetch(repo, { ...options, requireStill, onDamage })))
}

/** A client with a valid key is not asked for other credentials. */
function refusalOf(access: Access): string | undefined {
  if ('refused' in access) return access.message
  return 'challenge' in access ? 'The project you were looking for could not be found.' : undefined
}

type Options = {
  readonly idleMs: number
  readonly protocol: string | undefined
  /** Sources of the lines that the client prints after the push. */
  readonly answers: readonly AnswerToPush[]
  /** Why the key may not be used any more. */
  readonly refusedNow: () => Promise<string | undefined>
}

/** Ends only after the effects of the push are committed. */
async function push(
  call: Call,
  target: GitTarget,
  ctx: Ctx,
  options: Options & { statelessRpc?: boolean; staysOpen?: boolean; created?: boolean },
): Promise<number> {
  const received = await receivePush(ctx, target, { transport: 'ssh', ...options })
  try {
    return statusOf(await relay(call, received, true))
  } finally {
    await received.settled()
  }
}

/**
 * Handles a push to a project that does not exist: advertises an empty repository, and creates the project once the client
 * sends updates, unless the large files that a client uploads before them have created it. A dry run (`--dry-run`) creates nothing,
 * unless git-lfs uploads files, which it does then, too.
 */
async function pushToNothing(call: Call, path: string, { ctx, reopen }: Client, options: Options): Promise<number> {
  const nothing = ctx.git
    .open(await ctx.git.emptyDir())
    .withSignal(call.signal)
    .for(ctx.shareKey)
  const { answers, refusedNow, ...transfer } = options
  const { stream, done } = await advertise(nothing, 'receive-pack', transfer)
  for await (const chunk of stream) await send(call, chunk as Buffer)
  await done
  if (!(await saysSomething(call))) return 0
  const now = await reopen()
  if (!now) throw new Failure('forbidden', keyLost)
  const access = await gitAccess(now, path, 'git-receive-pack', 'ssh')
  const refusal = refusalOf(access)
  if (refusal !== undefined) throw new Failure('forbidden', refusal)
  const created = 'plan' in access
  const target = created
    ? { project: await createFromPush(now, access.plan) }
    : (access as { target: GitTarget }).target
  // The rest of the session equals one request of smart HTTP.
  const session = { statelessRpc: true, staysOpen: true, created }
  return push(call, target, now, { ...transfer, ...session, answers, refusedNow })
}

/** Whether the client sends more than the flush packet that means "no updates". Consumes nothing. */
async function saysSomething({ channel, signal, stalledMs }: Call): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const look = () => {
    const head = channel.read(flushPacket.length) as Buffer | null
    if (head === null) return
    // Removed before unshifting, because unshifted data triggers another event.
    channel.off('readable', look)
    channel.unshift(head)
    resolve(!isFlush(head))
  }
  const nothing = () => resolve(false)
  channel.on('readable', look).once('end', nothing)
  signal.addEventListener('abort', nothing)
  const stalled = setTimeout(nothing, stalledMs)
  try {
    return await promise
  } finally {
    clearTimeout(stalled)
    channel.off('readable', look).off('end', nothing)
    signal.removeEventListener('abort', nothing)
  }
}

const statusOf = ({ code }: Exit): number => code ?? failed

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { isFlush, textOf } from '../format/packets.ts'
import { readRefFiles } from '../refs/ref-files.ts'
import type { Repository } from '../repository/repository.ts'
import type { Shareable } from '../sharing/fetch-sharing.ts'
import { repositorySize } from './maintenance.ts'

/**
 * How the response to this request of protocol 2 may be shared; `undefined` if it may not. The response depends on
 * the objects of the repository, which the request names, and on its tags if it asks for those too. Requests that name other
 * refs, or that go on negotiating, are not shared. `maxBytes`: a full clone of a larger repository is not shared.
 */
export async function shareable(
  repo: Repository,
  packets: readonly Buffer[],
  maxBytes: number,
): Promise<Shareable | undefined> {
  if (!isFlush(packets.at(-1)!) || textOf(packets[0]!) !== 'command=fetch' || !(await repo.exists())) return undefined
  const digest = createHash('sha256').update(repo.name)
  let isDone = false
  let hasTags = false
  let isWhole = true
  let isClone = true
  for (const packet of packets) {
    const text = packet.toString('latin1', 4, 60)
    if (/^(?:want-ref|deepen-not) /.test(text)) return undefined
    isDone ||= /^done\n?$/.test(text)
    hasTags ||= /^include-tag\n?$/.test(text)
    if (/^(?:have|shallow|deepen|filter)/.test(text)) isWhole = false
    if (/^have /.test(text)) isClone = false
    // They name the program of the client and the session.
    if (!/^(?:agent|session-id)=/.test(text)) digest.update(packet)
  }
  if (!isDone) return undefined
  if (isWhole && (await repositorySize(join(repo.objectDir, 'pack'))) > maxBytes) return undefined
  if (hasTags) {
    const tags = await readRefFiles(repo, 'refs/tags')
    if (tags === 'ask') return undefined
    digest.update(digestOf(tags))
  }
  return { key: digest.digest('base64'), isClone }
}

const digests = new WeakMap<object, string>()

/** Computed once for a list, which is the same object until a tag changes. */
function digestOf(tags: readonly { readonly name: string; readonly oid: string }[]): string {
  const known = digests.get(tags)
  if (known !== undefined) return known
  const digest = createHash('sha256')
  for (const { name, oid } of tags) digest.update(`${oid} ${name}\n`)
  const text = digest.digest('hex')
  digests.set(tags, text)
  return text
}

import { parseObjectText } from '../format/object-text.ts'
import type { Oid } from '../format/oid.ts'
import { memoize } from '../repository/memoize.ts'
import type { Repository } from '../repository/repository.ts'
import type { ObjectType } from './cat-file.ts'
import { readObject } from './read-object.ts'
import { parseSignature, type Signature } from './signature.ts'

/** An annotated tag. */
export type Tag = {
  readonly oid: Oid
  readonly name: string
  readonly target: Oid
  readonly targetType: ObjectType
  /** Absent in tags of very old Git versions. */
  readonly tagger: Signature | undefined
  /** Without the signature. */
  readonly message: string
  readonly signature: string | undefined
}

const armour = /^-----BEGIN (?:PGP SIGNATURE|PGP MESSAGE|SSH SIGNATURE|SIGNED MESSAGE)-----$/m

/**
 * Reads a tag object without a process, then cached. `undefined` if `oid` is not a tag object: a lightweight tag is only a ref.
 */
export function readTag(repo: Repository, oid: Oid): Promise<Tag | undefined> {
  return memoize(
    repo,
    `tag ${oid}`,
    async (repo) => {
      const found = await readObject(repo, oid, 1024 * 1024)
      return found?.type === 'tag' && found.content ? parseTag(oid, found.content) : undefined
    },
    (tag) => 300 + 2 * (tag.message.length + (tag.signature?.length ?? 0)),
  )
}

export function parseTag(oid: Oid, content: Buffer): Tag {
  const { headers, message } = parseObjectText(content)
  const tagger = headers.get('tagger')?.[0]
  const signatureAt = message.search(armour)
  return {
    oid,
    name: headers.get('tag')?.[0] ?? '',
    target: (headers.get('object')?.[0] ?? '') as Oid,
    targetType: (headers.get('type')?.[0] ?? 'commit') as ObjectType,
    tagger: tagger === undefined ? undefined : parseSignature(tagger),
    message: signatureAt < 0 ? message : message.slice(0, signatureAt),
    signature: signatureAt < 0 ? undefined : message.slice(signatureAt),
  }
}

import { nullOid, type Oid } from '../format/oid.ts'
import { type NewObject, treeOrderKey } from './objects.ts'
import { RawTree } from './raw-tree.ts'
import { MalformedTree, symbolicLink } from './trees.ts'

/*
 * Which objects git's checks (`fsck --strict`) accept beyond doubt. These checks follow the security fixes of git, so what is unusual in any
 * way is left to them: names that some file systems read as `.git`, files with a meaning for git, modes of old histories, odd headers.
 */

/** Larger ones, of thousands of parents or files, would take long to check. In bytes. */
const maxBytes = { commit: 64 * 1024, tag: 64 * 1024, tree: 128 * 1024 }

/** Whether git is sure to accept the object. `isNew`: whether the push has an object of this id. */
export function isPlain({ type, content }: NewObject, isNew: (oid: Oid) => boolean): boolean {
  if (type === 'blob') return true
  if (content.length > maxBytes[type]) return false
  return type === 'tree' ? isPlainTree(content, isNew) : plainTexts[type].test(content.toString('latin1'))
}

const person = String.raw`[^\0\n<> ][^\0\n<>]* <[^\0\n<> ]*> (?:0|[1-9]\d{0,9}) [+-]\d{4}`
const signature = String.raw`gpgsig [^\0\n]*\n(?: [^\0\n]*\n)*`

const plainTexts = {
  commit: new RegExp(
    String.raw`^tree [0-9a-f]{40}\n(?:parent [0-9a-f]{40}\n)*author ${person}\ncommitter ${person}\n(?:encoding [\w-]+\n)?(?:${signature})?\n[^\0]*$`,
  ),
  tag: new RegExp(
    String.raw`^object [0-9a-f]{40}\ntype (?:commit|tag)\ntag [0-9A-Za-z](?:[._+-]?[0-9A-Za-z])*\ntagger ${person}\n\n[^\0]*$`,
  ),
}

/** Entries that are in order, each name once. */
function isPlainTree(content: Buffer, isNew: (oid: Oid) => boolean): boolean {
  const tree = entriesOf(content)
  if (!tree) return false
  const names = new Set<string>()
  let before: Buffer | undefined
  for (let index = 0; index < tree.length; index++) {
    const [mode, name, oid] = [tree.storedMode(index), tree.name(index), tree.oid(index)]
    if (!modes.has(mode) || !isPlainName(name, mode, () => isNew(oid))) return false
    const key = treeOrderKey({ mode, name })
    if (oid === nullOid || names.has(name) || (before && Buffer.compare(before, key) >= 0)) return false
    names.add(name)
    before = key
  }
  return true
}

function entriesOf(content: Buffer): RawTree | undefined {
  try {
    return new RawTree(content)
  } catch (error) {
    if (error instanceof MalformedTree) return undefined
    throw error
  }
}

const modes: ReadonlySet<string> = new Set(['100644', '100755', symbolicLink, '40000', '160000'])

const maxNameLength = 255

/** Separators and streams of Windows, short names, control characters, and characters that HFS+ ignores. */
const unusual = /[\u0000-\u001f/\\:\u007f\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]|~\d|^\.{0,2}$/

/** Names that begin like the folder of git, and have no meaning for it. */
const known: ReadonlySet<string> = new Set(['.gitignore', '.gitkeep', '.github', '.gitlab', '.gitlab-ci.yml', '.gitea'])

/** Files whose content git checks, when it is pushed. */
const checked: ReadonlySet<string> = new Set(['.gitattributes', '.gitmodules'])

function isPlainName(name: string, mode: string, isNew: () => boolean): boolean {
  // Bytes that are not UTF-8 are lone surrogates.
  if (!name.isWellFormed() || unusual.test(name) || name.length > maxNameLength) return false
  if (mode === symbolicLink) return !name.startsWith('.') && !isNew()
  if (!/^\.git/i.test(name) || known.has(name)) return true
  return checked.has(name) && mode.startsWith('100') && !isNew()
}

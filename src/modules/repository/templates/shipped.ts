import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type Kind, kinds, type Template } from './kinds.ts'

const known = new Map<Kind, readonly Template[]>()

/** Built-in templates, by name. */
export function shippedTemplates(kind: Kind): readonly Template[] {
  let templates = known.get(kind)
  if (!templates) known.set(kind, (templates = readShipped(kind)))
  return templates
}

function readShipped(kind: Kind): Template[] {
  const folder = new URL(`./shipped/${kind}/`, import.meta.url)
  return readdirSync(folder)
    .sort()
    .map((file) => {
      let text: Promise<string> | undefined
      return {
        key: file.slice(0, -kinds[kind].extension.length),
        read: () => (text ??= readFile(new URL(encodeURIComponent(file), folder), 'utf8')),
      }
    })
}

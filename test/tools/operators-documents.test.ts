import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { freePort, Launched, temporaryFolder } from '../../src/processes/testing/launch.ts'
import { bin, freshEnv } from '../service.ts'

const folder = fileURLToPath(new URL('../../docs/operators', import.meta.url))
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))

type Block = { language: string; lines: string[] }

const blocksOf = (page: string): Block[] =>
  [...readFileSync(join(folder, page), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, text]) => ({
    language: language!,
    lines: text!.trim().split('\n'),
  }))

/** Commands within a sentence or a table; `NAME` stands for the name of a user. */
const mentionedOn = (page: string): string[] =>
  [...readFileSync(join(folder, page), 'utf8').matchAll(/`(npx stithy [^`]*)`/g)].map(([, line]) =>
    line!.replace('NAME', 'root'),
  )

/** The commands of Stithy, each once; `doctor --mail-to` has a mail server in its own test. */
const commands = [
  ...new Set([
    ...pages.flatMap((page) => blocksOf(page).flatMap(({ language, lines }) => (language === 'sh' ? lines : []))),
    ...pages.flatMap(mentionedOn),
  ]),
]

describe('the documents for operators', () => {
  test('every block is a command of Stithy, or marked as an example of another program', () => {
    const languages = pages.flatMap((page) => blocksOf(page).map(({ language }) => `${page}: ${language}`))
    expect(languages.filter((each) => !/: (sh|console|nginx|)$/.test(each))).toEqual([])
    expect(commands.filter((line) => !/^npx stithy [a-z]/.test(line))).toEqual([])
    expect(commands.length).toBeGreaterThan(9)
  })

  test('every command of the documents succeeds on a sound installation that is stopped', async () => {
    const [env, beside] = [await freshEnv(), await temporaryFolder()]
    // Absolute paths in the documents lead to other folders here. Backups without `--to` go where the document puts them.
    const here = (word: string) => (word.startsWith('/') ? join(beside, word) : word)
    env['STITHY_BACKUP_URL'] = here('/backup/stithy')
    for (const line of commands) {
      const words = line.split(' ').slice(2).map(here)
      // Without a mail server the mail test fails, as the document says.
      const expected = words.includes('--mail-to') ? 1 : 0
      const launched = new Launched(words, { ...env, STITHY_HTTP_PORT: String(await freePort()) }, { file: bin })
      expect({ line, code: await launched.exit }, launched.out + launched.err).toEqual({ line, code: expected })
    }
  })
})

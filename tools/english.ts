import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Counts, countWords, grown } from './english/words.ts'

/** Generated files, and history, which is never rewritten. */
const outside = [
  ':!docs/adr',
  ':!docs/openapi.json',
  ':!docs/settings.md',
  ':!package-lock.json',
  ':!tools/english*',
  ':!test/tools/english.test.ts',
]
const watched = ['*.ts', '*.js', '*.md']

const root = fileURLToPath(new URL('..', import.meta.url))
const limitsFile = fileURLToPath(new URL('./english/limits.json', import.meta.url))

// Counts words of the old idiom and fails when any count exceeds its committed limit. With --write, lowers the limits.
const files = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '--', ...watched, ...outside],
  { cwd: root, encoding: 'utf8' },
)
const texts = files
  .split('\0')
  .filter((file) => file !== '')
  .map((file) => readFileSync(`${root}/${file}`, 'utf8'))
const counts = countWords(texts)
const limits = JSON.parse(readFileSync(limitsFile, 'utf8')) as Counts
const more = grown(counts, limits)
if (more.length > 0) {
  console.log(`${more.join('\n')}\nUse plain English instead; tools/english/words.ts has the words`)
  process.exitCode = 1
} else if (process.argv.includes('--write')) {
  // A word without a limit must not occur.
  const left = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
  writeFileSync(limitsFile, `${JSON.stringify(left, null, 2)}\n`)
} else console.log('no word of the old idiom was added')

import { readFile, writeFile } from 'node:fs/promises'
import { eventsFile, eventsText } from './events-text.ts'

// Writes docs/events.md, which lists every event. With --check, reports whether it is up to date.
const text = eventsText()
if (!process.argv.includes('--check')) await writeFile(eventsFile, text)
else if ((await readFile(eventsFile, 'utf8').catch(() => '')) === text) console.log('docs/events.md is up to date')
else {
  console.log('docs/events.md is not what the catalogue declares: run `npm run events` and commit the difference')
  process.exitCode = 1
}

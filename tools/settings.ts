import { readFile, writeFile } from 'node:fs/promises'
import { settingsFile, settingsText } from './settings-text.ts'

// Writes docs/settings.md, which describes every setting. With --check, reports whether it is up to date.
const text = settingsText()
if (!process.argv.includes('--check')) await writeFile(settingsFile, text)
else if ((await readFile(settingsFile, 'utf8').catch(() => '')) === text) console.log('docs/settings.md is up to date')
else {
  console.log('docs/settings.md is not what the settings say: run `npm run settings` and commit the difference')
  process.exitCode = 1
}

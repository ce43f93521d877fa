import { existsSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { type Config, parseConfig } from '../config.ts'
import { compileCacheDir } from './data-dir.ts'
import type { Parts } from './parts.ts'
import { makeFilesPrivate } from './private-files.ts'

/** Entry point of every command. Ends the process with the exit code of the command. */
export async function main(parts: Parts): Promise<never> {
  process.title = 'stithy'
  // Stack traces name lines of the sources, also where a bundle of them runs.
  process.setSourceMapsEnabled(true)
  makeFilesPrivate()
  const config = readConfig()
  const dataDir = config instanceof Error ? undefined : config.dataDir
  // `stithy --help` creates no folders.
  if (dataDir !== undefined && existsSync(dataDir)) enableCompileCache(compileCacheDir(dataDir))

  const { run } = await import('./cli.ts')
  const code = await run(process.argv.slice(2), {
    config: () => {
      if (config instanceof Error) throw config
      return config
    },
    parts,
    terminal: {
      out: (line) => console.log(line),
      err: (line) => console.error(line),
      isInteractive: process.stdout.isTTY,
      ...(process.stderr.isTTY && { status: (line: string) => void process.stderr.write(`\r\x1b[K${line}`) }),
    },
  })
  process.exit(code)
}

/** The command reports the error, so that `stithy --help` works with invalid settings. */
function readConfig(): Config | Error {
  try {
    return parseConfig()
  } catch (error) {
    return error as Error
  }
}

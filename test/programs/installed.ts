import { execFileSync } from 'node:child_process'

/** Whether a program is on the path. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' })
    return true
  } catch (error) {
    // Some programs reject the option, which shows that they are installed.
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Title of the tests that need a program. */
export const titleFor = (program: string): string =>
  `${program}${isInstalled(program) ? '' : ` (skipped: it is not installed; apt-get install ${program})`}`

import { checkStatements } from '../checks.ts'
import { Check } from './check.ts'

// Loaded before anything else by the processes of tests and by those that tests start.
checkStatements((url) => new Check(url))

// In a file of its own, because the routes of pages name it as their parent and the shell lists the pages.
import { createRootRoute } from '@tanstack/react-router'

export const rootRoute = createRootRoute()

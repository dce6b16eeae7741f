"""Words to concepts: data about what papers and developers call things, and the one module that uses it."""

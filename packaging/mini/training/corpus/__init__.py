"""The corpus of the bundled voice: what the teacher reads, in which voices and styles, in shards on disk.

Decision: English and Mandarin lines alternate in every shard, and all voices read both. Reason: every prefix of the
corpus is a balanced corpus, and one timbre is heard in both languages. Alternative: separate voices and corpora.
"""

"""Small patches that break the crawler one rule at a time; each must make a named test fail.

make mutants                        all of them, in a copy of the tree
python -m tests.mutants -k redirect   those whose name or file has this word
"""

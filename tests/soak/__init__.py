"""A whole house at work for as long as one likes: sites that change, edits, crawls, propagations, searches, and one
process after the other killed; what it holds, and whether anything grew or went wrong, is proved after each round."""
